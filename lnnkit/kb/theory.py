"""What a knowledge base says: its statements and facts, the numbers that its rules have learned, the modules that it
has predicates from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from lnnkit.check.program import CheckedProgram, Fact
from lnnkit.errors import Error, ProgramError
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.explain.provenance.origins import Origins
    from lnnkit.learn.learner import Learner
    from lnnkit.learn.replay.binding import Binding, NotFinite


class Theory:
    """A ``checked`` program, whose main ``file`` has the rules that learn; ``learner`` is None until they are asked
    for. ``bindings`` are its modules, ``assumed`` the facts that stand in place of what else is said of their atoms."""

    def __init__(self, checked: CheckedProgram, file: ast.Program) -> None:
        self.checked = checked
        self.file = file
        self.learner: Learner | None = None
        self.bindings: tuple[Binding, ...] = ()
        self.assumed: tuple[Fact, ...] = ()
        self._borrowed: frozenset[str] = frozenset()  # predicates whose modules are those of what this is a copy of
        self._origins: tuple[CheckedProgram, object, Origins] | None = None  # of a program and its modules

    def learning(self) -> Learner:
        """What its rules learn."""
        from lnnkit.learn.learner import Learner

        if self.learner is None:
            self.learner = Learner(self.checked, self.file)
        return self.learner

    # --- what it says -----------------------------------------------------------------------------------------------

    @property
    def refused(self) -> list[Diagnostic]:
        """What keeps the program from being evaluated: but for values that it has learned since."""
        return [
            replace(finding, severity="error")
            for finding in self.checked.unevaluated
            if self.learner is None or not self.learner.tells(finding)
        ]

    def require_evaluated(self) -> None:
        """Raises `ProgramError` with what is ``refused``."""
        refused = self.refused
        if refused:
            raise ProgramError(refused)

    @property
    def numeric(self) -> bool:
        """Whether it says anything of numbers."""
        return any(predicate.numeric for predicate in self.checked.predicates.values())

    @property
    def values(self) -> Mapping[str, float]:
        """The numbers that its rules have learned, by name."""
        return {} if self.learner is None else self.learner.module.current()

    @property
    def exact_values(self) -> Mapping[str, float]:
        """The same for a model file beside the text that is `written`; none where that goes without literals, whose
        values would be missed: the text has the others in full."""
        return {} if self.learner is not None and self.learner.going_without else self.values

    @property
    def version(self) -> tuple[object, ...]:
        """Changes when what it has learned does."""
        return (*self.values.items(), *(each.version for each in self.bindings))

    def settled(self) -> CheckedProgram:
        """The program with the numbers that it has learned."""
        return self.checked if self.learner is None else self.learner.settled(self.checked)

    def bound(self, program: CheckedProgram) -> CheckedProgram:
        """The program with what modules supply now, but of atoms of which something else is assumed."""
        if not self.bindings:
            return program
        from lnnkit.explain.missing.hypothetical import with_facts
        from lnnkit.explain.provenance.origins import Origins
        from lnnkit.learn.replay.binding import NotFinite, bound

        try:
            found = bound(program, self.bindings)
        except NotFinite as problem:
            raise not_finite(problem) from None
        return with_facts(found, Origins(found), self.assumed) if self.assumed else found

    @property
    def named(self) -> CheckedProgram:
        """The program as queries are checked against: it names what modules supply something about."""
        if not self.bindings:
            return self.checked
        from lnnkit.learn.replay.binding import with_atoms

        return with_atoms(self.checked, self.bindings)

    def origins(self) -> Origins:
        """Where all that it says of atoms is from."""
        from lnnkit.explain.provenance.origins import Origins

        version = tuple(each.version for each in self.bindings)
        if self._origins is None or self._origins[0] is not self.checked or self._origins[1] != version:
            self._origins = self.checked, version, Origins(self.bound(self.checked))
        return self._origins[2]

    def written(self) -> ast.Program:
        """The main file, with the numbers that it has learned."""
        return self.file if self.learner is None else self.learner.written(self.checked)

    # --- what else it may say ---------------------------------------------------------------------------------------

    def assuming(self, facts: Sequence[Fact], origins: Origins) -> Theory:
        """A copy with these facts in place of all that is said of their atoms. It learns for itself."""
        from lnnkit.explain.missing.hypothetical import with_facts

        found = copy(self)
        found.checked = with_facts(self.checked, origins, facts)
        found.assumed = (*self.assumed, *facts)
        found.learner = None if self.learner is None else self.learner.copied()
        found._borrowed = frozenset(each.predicate for each in self.bindings)
        return found

    def copied(self) -> Theory:
        """One that says the same, and may be told more without this one hearing of it. It learns for itself, with
        modules of its own."""
        found = copy(self)
        found.learner = None if self.learner is None else self.learner.copied()
        found.bindings = tuple(replace(each, module=deepcopy(each.module)) for each in self.bindings)
        found._borrowed = frozenset()
        return found

    def about(self, program: CheckedProgram) -> Theory:
        """Another program, settled: it learns nothing, and what modules supply is among its facts."""
        found = copy(self)
        found.checked, found.bindings, found.learner = replace(program, unevaluated=()), (), None
        return found

    def bind(self, binding: Binding) -> None:
        """Let a module supply a predicate, here and not in what this is a copy of."""
        self._borrowed -= {binding.predicate}
        self.bindings = (*self.bindings, binding)

    def own_modules(self) -> None:
        """Take copies of the modules that are bound to what this is a copy of, to train them."""
        self.bindings = tuple(
            replace(each, module=deepcopy(each.module)) if each.predicate in self._borrowed else each
            for each in self.bindings
        )
        self._borrowed = frozenset()


def not_finite(problem: NotFinite) -> Error:
    """The error for a module that gives what is no number."""
    hint = "give it finite inputs and weights; where training has led there, take a smaller `module_rate`"
    return Error([Diagnostic("not-finite", str(problem), hint)])
