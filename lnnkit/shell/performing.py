"""Performs a request: computes the next state and the reply. Nothing is printed, and only `save` writes a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from lnnkit.answer_table import formatter
from lnnkit.check.findings import nearest, signature
from lnnkit.cli.answer_report import answer_rows, chosen
from lnnkit.cli.explain import conflict_report
from lnnkit.cli.streams import Paint, plain, printable
from lnnkit.errors import Error
from lnnkit.explain.conflict.program_variants import ASSUMED
from lnnkit.explain.proof.proof import ground_key
from lnnkit.kb import KnowledgeBase
from lnnkit.kb.session import GroundAtom
from lnnkit.markup.pages import counted
from lnnkit.shell import shell_state
from lnnkit.shell.shell_state import COMMANDS, UNNAMED, RequestKind, ShellState, Typed
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_expression, format_predicate

HELP = """\
P(X) & Q(X)        ask a formula: the bindings about which something is known; `query P(X)` is the same
fact P(a) = 0.7    state a fact; a rule, an axiom, a predicate, a number, a load or an import in the same way
why P(a)           show why an atom has its bounds; `why` alone shows the contradictions
whynot P(a)        show what keeps an atom from being true; `whynot ~P(a)`: from being false
assume P(a) = 0.2  ask as if an atom had this fact instead of those about it
retract P(a)       take back all facts about an atom
replace P(a) = 0.3 state a fact in place of all facts about its atom
changes            show which answers to the program's queries the last change has changed, and by which facts
undo               take back the last change
rules, rules P     list the rules and axioms, or those that mention P, with their places
facts P            list the facts of P with their places
reload             read the file and its tables again; what was stated and assumed here stays
save FILE          write the program, with what was added, to a .lnn file
limit N            show N answers of each query, or facts, at most; `limit 0` shows all; `limit` alone says N
help, quit         this list; the end (Ctrl-D)
"""


_WIDE = 72  # places are aligned behind texts up to this length


@dataclass(frozen=True, slots=True)
class Reply:
    """``text`` is what to print, ``findings`` are errors and warnings; ``ended`` means that the session is over."""

    text: str = ""
    findings: tuple[Diagnostic, ...] = ()
    ended: bool = False

    @property
    def failed(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)


def perform(state: ShellState, typed: Typed, paint: Paint = plain, *, headed: bool = True) -> tuple[ShellState, Reply]:
    """Perform a request; ``headed`` puts queries above answers. One with an error changes nothing but the reply."""
    try:
        if typed.kind in ("ask", "state"):
            return _language(state, typed, paint, headed)
        if typed.kind in _NEEDED and not typed.argument:
            raise Error([_NEEDED[typed.kind]])
        if typed.kind in _ALONE and typed.argument:
            raise _wrong("no-argument", f"`{typed.kind}` {_ALONE[typed.kind]}", f"say `{typed.kind}` alone")
        return _COMMANDS[typed.kind](state, typed)
    except Error as problem:
        findings = typed.placed(problem.diagnostics)
        return state, Reply(findings=tuple(map(_hinted, findings)) if typed.kind == "ask" else findings)


def _hinted(finding: Diagnostic) -> Diagnostic:
    """A plain syntax error with a hint about shell commands: the input may have been meant as one."""
    if finding.code != "syntax" or finding.span is None:
        return finding
    word = finding.span.source.text.split(maxsplit=1)[0]
    near = nearest(word, COMMANDS)
    return replace(finding, hint=f"did you mean `{near}`?" if near else "`help` lists what can be typed here")


# --- the language -----------------------------------------------------------------------------------------------------


def _language(state: ShellState, typed: Typed, paint: Paint, headed: bool) -> tuple[ShellState, Reply]:
    if typed.kind == "ask":
        return _ask(state, typed, (0, typed.end), paint, headed)
    program, problems = parse(typed.source.text, typed.path)
    if problems:
        raise Error(problems)
    texts: list[str] = []
    findings: list[Diagnostic] = []
    stated = [statement for statement in program.statements if not isinstance(statement, ast.QueryStatement)]
    if stated:
        state, findings = shell_state.with_statements(state, stated)
    above = typed.line - 1
    for statement in program.statements:
        if isinstance(statement, ast.QueryStatement):
            state, reply = _ask(state, typed, (statement.span.start - above, statement.span.end - above), paint, headed)
            texts.append(reply.text)
            findings += reply.findings
    return state, Reply("".join(texts), tuple(findings))


def _ask(
    state: ShellState, typed: Typed, place: tuple[int, int], paint: Paint, headed: bool
) -> tuple[ShellState, Reply]:
    answers = state.kb.ask(typed.only(*place))
    shown = chosen(answers, state.limit, filters=True)
    lines = [paint(printable(answers.query), "query") + "\n"] if headed else []
    lines += answer_rows(shown, paint, "`limit 0` shows all", "ask its negation, `~(...)`, to see them")
    lines += ["\n"] if headed else []
    ended = _ended(state)
    if ended and ended != state.status:
        lines.append(f"{paint(ended, 'note')}\n")
    return replace(state, status=ended), Reply("".join(lines), typed.placed(answers.warnings))


def _ended(state: ShellState) -> str:
    """How the inference behind an answer ended, if not normally; else empty."""
    outcome = state.kb.outcome
    count = len(outcome.contradictions)
    lines = [f"{counted(count, 'contradiction')}; `why` alone shows what meets"] if count else []
    return "\n".join([*lines, *([outcome.summary] if outcome.status != "converged" else [])])


# --- the commands -----------------------------------------------------------------------------------------------------


def _why(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    if not typed.argument:
        text, _ = conflict_report(state.kb, minimal=False)
        return state, Reply(f"{printable(text)}\n")
    explanation = state.kb.explain(typed.only(typed.rest, typed.end))
    return state, Reply(f"{printable(str(explanation))}\n", typed.placed(explanation.warnings))


def _whynot(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    negated = typed.argument.startswith(("~", "¬"))
    why_not = state.kb.why_not(typed.only(typed.rest + negated, typed.end), side="upper" if negated else "lower")
    return state, Reply(f"{printable(str(why_not))}\n", typed.placed(why_not.warnings))


def _made_known(statement: ast.FactStatement) -> str:
    """A hint that says how to declare the predicate or number of an assumption."""
    atom, bounds = statement.atom, statement.bounds
    ends = () if bounds is None else (bounds.lower, bounds.upper)
    if all(isinstance(end, ast.Learnable) or 0 <= end.value <= 1 for end in ends):
        return f"`{statement.span.text}` states it for good, and makes `{atom.name}` known"
    return f"declare it first: `number {signature(atom.name, len(atom.arguments))}`"


def _assume(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    statement = _fact(typed, ASSUMED)
    if statement.trust is not None:
        hint = "take it out, or state the fact with it"
        raise _wrong("bad-trust", "an assumption has no trust: that says which facts are repaired first", hint)
    name = statement.atom.name
    if name not in state.kb.predicates:
        raise _unknown(name, state.kb, _made_known(statement), statement.atom.span)
    facts, findings = state.kb.facts_of([statement])
    lower, upper = facts[0].lower, facts[0].upper
    bounds = formatter(state.kb.predicates[name].numeric)(lower, upper)
    atom = format_expression(statement.atom)
    following = shell_state.with_assumption(state, facts[0], atom, f"assume {typed.argument}")
    return following, Reply(f"assumed: {printable(atom)} {bounds}; `undo` takes it back\n", typed.placed(findings))


def _retract(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    atom = _atom(_fact(typed, typed.path), state)
    if len(atom[1]) == state.kb.predicates[atom[0]].arity and not any(state.kb.facts(*atom)):
        raise _wrong("no-fact", f"no fact is about `{typed.argument}`", f"`facts {atom[0]}` lists those of `{atom[0]}`")
    following = shell_state.without_facts(state, [atom], f"retract {typed.argument}")
    return following, Reply(f"taken back: {printable(typed.argument)}; `undo` states it again\n")


def _replace(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    statement = _fact(typed, typed.path)
    without = shell_state.without_facts(state, [_atom(statement, state)], "")
    following, findings = shell_state.with_statements(without, [statement])
    following = replace(following, before=without.before, change=f"replace {typed.argument}")
    return following, Reply(findings=typed.placed(findings))


def _atom(statement: ast.FactStatement, state: ShellState) -> GroundAtom:
    """The atom of a fact about a predicate that the session has."""
    if statement.atom.name not in state.kb.predicates:
        raise _unknown(statement.atom.name, state.kb, span=statement.atom.span)
    atom = ground_key(statement.atom)
    if atom is None:
        raise _wrong("no-atom", "facts are about entities", "name one in place of each variable", statement.atom.span)
    return atom


def _changes(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    if not state.kb.queries:
        raise _wrong("no-query", "`changes` compares answers to the queries of the file, and there are none", "")
    changed = [] if state.before is None else state.kb.changes_since(state.before.kb)
    return state, Reply(f"{printable(str(changed))}\n" if changed else "no answer has changed\n")


def _fact(typed: Typed, path: str) -> ast.FactStatement:
    """The fact after a command, with or without the keyword ``fact``."""
    text = typed.only(typed.rest, typed.end)
    begin = typed.line - 1 + typed.rest
    if not typed.argument.startswith("fact "):
        text = f"{text[: begin - 5]}fact {text[begin:]}"  # in place of the end of the command
    program, findings = parse(text, path)
    first = program.statements[0] if program.statements else None
    if findings or not isinstance(first, ast.FactStatement):
        raise Error(findings)
    return first


def _undo(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    if state.before is None:
        raise _wrong("nothing-to-undo", "nothing has been stated or assumed here", "")
    restored = replace(state.before, limit=state.limit, status=state.status)
    return restored, Reply(f"undone: {printable(state.change)}\n")


def _rules(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    named = re.compile(rf"(?<![\w-]){re.escape(format_predicate(typed.argument))}(?![\w-])" if typed.argument else "")
    rules = [
        (" ".join(rule.text.split()), f"{rule.span.source.path}:{rule.span.line}")
        for rule in state.stated.statements
        if named.search(rule.text)
    ]
    return _listed(state, typed, rules, "rules")


def _facts(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    facts = islice(state.stated.facts(typed.argument), state.limit + 1 if state.limit else None)
    listed = [(fact.text, f"{fact.file}:{fact.row}") for fact in facts]
    more = "… and more; `limit 0` shows all\n" if state.limit and len(listed) > state.limit else ""
    state, reply = _listed(state, typed, listed[: state.limit or None], "facts")
    return state, replace(reply, text=f"{reply.text}{more}")


def _listed(state: ShellState, typed: Typed, rows: Sequence[tuple[str, str]], what: str) -> tuple[ShellState, Reply]:
    """Texts with their places; an error where there are none because nothing has the name that was typed."""
    name = typed.argument
    if name and name not in state.stated.predicates:
        raise _unknown(name, state.stated)
    width = max((len(text) for text, _ in rows if len(text) <= _WIDE), default=0)
    lines = [f"{printable(text, keep=''):<{width}}   {printable(place, keep='')}\n" for text, place in rows]
    return state, Reply("".join(lines) or f"no {what}\n")


def _reload(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    path = state.origin.span.source.path
    if path == UNNAMED:
        raise _wrong("no-file", "this session has no file", "start it with `lnnkit shell FILE`")
    fresh, warnings = shell_state.reloaded(state, path)
    return fresh, Reply(f"read again: {printable(path)}\n", tuple(warnings))


def _save(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    name = typed.argument
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
        name = name[1:-1]
    if not name:
        raise Error([_NEEDED["save"]])
    path = Path(name).expanduser()
    shell_state.save(state, path)
    return state, Reply(f"written to {printable(str(path))}\n")


def _limit(state: ShellState, typed: Typed) -> tuple[ShellState, Reply]:
    if not typed.argument:
        return state, Reply(f"limit {state.limit}{'' if state.limit else ', all'}\n")
    if not typed.argument.isdecimal():
        raise _wrong("no-limit", "`limit` needs a whole number from 0 on", "`limit 0` shows all answers")
    return replace(state, limit=int(typed.argument)), Reply()


def _unknown(name: str, kb: KnowledgeBase, otherwise: str = "", span: Span | None = None) -> Error:
    """No predicate has the name: the hint is the nearest one, or what ``otherwise`` helps."""
    near = nearest(name, kb.predicates)
    hint = f"did you mean `{near}`?" if near else otherwise
    return _wrong("unknown-predicate", f"no predicate is named `{name}`", hint, span)


def _wrong(code: str, message: str, hint: str, span: Span | None = None) -> Error:
    return Error([Diagnostic(code, message, hint, span)])


_NEEDED: dict[RequestKind, Diagnostic] = {  # what is said of a command without its argument
    "whynot": Diagnostic("no-atom", "`whynot` needs an atom", "name one, as in `whynot P(a)`"),
    "assume": Diagnostic("no-fact", "`assume` needs a fact", "as in `assume P(a)` or `assume P(a) = 0.2`"),
    "retract": Diagnostic("no-atom", "`retract` needs an atom", "name one, as in `retract P(a)`"),
    "replace": Diagnostic("no-fact", "`replace` needs a fact", "as in `replace P(a) = 0.2`"),
    "facts": Diagnostic("no-predicate", "`facts` needs a predicate or number", "name one, as in `facts P`"),
    "save": Diagnostic("no-file", "`save` needs a file", "as in `save session.lnn`"),
}
_ALONE: dict[RequestKind, str] = {  # what is said of a command with one
    "undo": "takes back one change at a time",
    "reload": "reads the file of the session",
    "changes": "is about the last change",
}

_COMMANDS: dict[RequestKind, Callable[[ShellState, Typed], tuple[ShellState, Reply]]] = {
    "why": _why, "whynot": _whynot, "assume": _assume, "retract": _retract,
    "replace": _replace, "changes": _changes, "undo": _undo, "rules": _rules, "facts": _facts,
    "reload": _reload, "save": _save, "limit": _limit,
    "help": lambda state, _: (state, Reply(HELP)),
    "nothing": lambda state, _: (state, Reply()),
    "quit": lambda state, _: (state, Reply(ended=True)),
}  # fmt: skip
