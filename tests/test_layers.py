"""Imports point one way: the tree is the pipeline.

    syntax <- data <- check <- graph <- formula <- analysis <- store <- join <- trail <- engine <- answers
           <- rows <- explain <- prove <- draw <- learn <- kb <- surfaces (cli, shell)

Each stage may import itself and the stages before it. Beside them stand

- ``garbage`` (Python's collector, paused) and ``time_limit``: they import nothing and are imported by ``graph`` and
  what follows.
- ``logic`` and ``numeric``: leaves, functions over arrays that know no graph. They import nothing of lnnkit outside
  themselves but ``arrays`` (one source for numpy and torch) and ``elementwise`` (functions whose last bit hangs on
  their element alone); ``formula`` and what follows may import them, and nothing before.
- ``errors``: exceptions over the diagnostics of ``syntax``, raised by ``kb`` and the surfaces alone.
- ``answer_table``, ``outcome``, ``plan``, ``scores``: what inference and learning come back with, as values that import
  no stage but ``syntax`` and ``data`` (columns of names); so ``answers`` can make them and the surfaces can show them.
- ``markup`` (templates, colours, tables of HTML) and ``picture`` (boxes and arrows as SVG, PNG, DOT and pages): leaves
  that everything shows itself by.
- ``report``: draws ``scores`` of training as a page, for ``kb``.
- ``draft``: a first program for tables, for the surfaces alone.
- ``interchange``: another notation of logic -> programs, for the surfaces alone.
- ``scoring``: streams of rows through a scorer of ``rows`` into a file, for the surfaces alone.
- ``highlighting`` (colours, by the TextMate grammar) and ``editor`` (what an editor asks of a text: pure functions over
  syntax trees and the checker's index) import no engine; ``language_server`` speaks the protocol, and infers through
  ``kb``.
- ``budget`` (what ``kb`` allows ``engine``), ``computing`` (the precision and device that it is given), ``interrupt``
  (Ctrl-C as a watch of ``engine``) and ``output`` (files that ``kb`` and the surfaces write).

Imports within functions and under ``TYPE_CHECKING`` count too. The package itself (``lnnkit/__init__.py``) is the door
to all of them and is imported by the surfaces alone.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import networkx
import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "lnnkit"
CORE = ("formula", "analysis", "store", "join", "trail", "engine", "answers")
STAGES = ("syntax", "data", "check", "graph", *CORE, "rows", "explain", "prove", "draw", "learn", "discovery", "kb")
LEAVES = ("logic", "numeric", "arrays", "elementwise")
SURFACES = ("cli", "shell", "sklearn", "formula_regressor", "__main__")
VALUES = ("answer_table", "outcome", "plan", "scores")

MAY: dict[str, set[str]] = {stage: set(STAGES[: place + 1]) for place, stage in enumerate(STAGES)}
for _stage in (*CORE, "rows", "explain", "prove", "learn", "kb"):
    MAY[_stage] |= set(LEAVES)
for _stage in ("answers", "rows", "explain", "prove", "draw", "learn", "kb"):
    MAY[_stage] |= set(VALUES)
for _stage in ("explain", "prove", "draw", "kb"):
    MAY[_stage] |= {"markup", "picture"}
MAY["rows"] |= {"errors", "budget"}
MAY["kb"] |= {"errors", "budget", "computing", "interrupt", "output", "report"}
MAY |= {leaf: {leaf, "arrays", "elementwise"} for leaf in LEAVES}
for _stage in STAGES[STAGES.index("graph") :]:
    MAY[_stage] |= {"garbage", "time_limit"}
MAY["garbage"] = MAY["time_limit"] = set()
MAY["errors"] = {"syntax"}
MAY["markup"] = {"markup", "errors", "syntax"}
MAY["picture"] = {"picture", "markup", "answer_table", "syntax"}
MAY["answer_table"] = {"syntax", "data", "markup"}
MAY["outcome"] = {"answer_table", "syntax", "markup"}
MAY["plan"] = {"outcome", "markup"}
MAY["scores"] = {"syntax", "markup"}
MAY["report"] = {"report", "scores", "markup"}
MAY["budget"] = {"errors", "syntax", "check", "graph", *CORE}
MAY["computing"] = {"errors", "syntax", "logic"}
MAY["interrupt"] = {"engine"}
MAY["output"] = {"errors", "syntax", "data"}
MAY["scoring"] = {"scoring", "rows", "syntax", "data", "errors", "answer_table"}
MAY["draft"] = {"draft", "syntax", "data"}
MAY["interchange"] = {"interchange", "syntax", "errors"}
MAY["highlighting"] = {"syntax", "highlighting"}
MAY["editor"] = {"syntax", "data", "check", "markup", "editor"}
MAY["language_server"] = {*MAY["kb"], "editor", "language_server", "lnnkit"}
OTHERS = ("draft", "editor", "interchange", "scoring", "highlighting", "language_server", "report", "lnnkit")
MAY |= {surface: {*MAY["kb"], *SURFACES, *OTHERS} for surface in SURFACES}

MODULES = sorted(PACKAGE.rglob("*.py"))


Imported = ast.Import | ast.ImportFrom


@cache
def nodes_of(path: Path) -> list[Imported]:
    """The imports of a file; the rest is not kept, for the collector would look at it in each test."""
    return list(imported(ast.parse(path.read_text(encoding="utf-8")).body))


def imported(statements: Sequence[ast.AST]) -> Iterator[Imported]:
    """The imports among statements and within them; expressions, of which most of a tree consists, have none."""
    for statement in statements:
        if isinstance(statement, Imported):
            yield statement
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from imported(getattr(statement, part, ()))


def layer(module: str) -> str:
    """``lnnkit.check.walk`` -> ``check``; the package itself is ``lnnkit``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the layer of each import of lnnkit in a file."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, layer(name.name)) for name in node.names if name.name.split(".")[0] == "lnnkit")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            if node.module == "lnnkit":
                named = [name.name for name in node.names]
                yield from ((node.lineno, name if name in MAY else "lnnkit") for name in named)
            elif node.module and node.module.startswith("lnnkit."):
                yield node.lineno, layer(node.module)


@pytest.mark.parametrize(
    "own", sorted({path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES} - {"__init__"})
)
def test_arrows_point_one_way(own: str) -> None:
    assert own in MAY, f"give {own} its place in this test"
    paths = [path for path in MODULES if path.relative_to(PACKAGE).with_suffix("").parts[0] == own]
    wrong = [
        f"{path}:{line}: {own} imports {other}"
        for path in paths
        for line, other in imports(path)
        if other not in MAY[own]
    ]
    assert not wrong, "\n".join(wrong)


KNOWLEDGE_BASE = (
    *("telling", "theory", "module_binding", "saving", "fixpoint", "session", "row_scoring", "asking"),
    *("changing", "explaining", "proving", "finding_functions", "training", "knowledge_base", "__init__"),
)


@pytest.mark.parametrize("name", KNOWLEDGE_BASE)
def test_arrows_point_one_way_within_the_knowledge_base(name: str) -> None:
    """Each file may import those before it."""
    assert {path.stem for path in (PACKAGE / "kb").glob("*.py")} == set(KNOWLEDGE_BASE)
    tree = ast.parse((PACKAGE / "kb" / f"{name}.py").read_text(encoding="utf-8"))
    named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    own = {module.removeprefix("lnnkit.kb.") for module in named if module.startswith("lnnkit.kb")}
    assert own <= set(KNOWLEDGE_BASE[: KNOWLEDGE_BASE.index(name)])


def test_every_layer_is_met() -> None:
    found = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in MODULES}
    assert {*STAGES, *SURFACES[:2], "logic", "numeric"} <= found


@pytest.mark.parametrize("stage", [*CORE, "rows", "explain", "prove", "learn", "draft"])
def test_a_folder_has_a_dozen_modules_at_most(stage: str) -> None:
    folders = Counter(path.parent for path in (PACKAGE / stage).rglob("*.py") if path.stem != "__init__")
    assert {folder.name: count for folder, count in folders.items() if count > 12} == {}


def test_bounds_are_written_in_two_places() -> None:
    """In rounds by the merge, elsewhere by ``State.put``: nothing else may write to a relation's ends."""
    writers = {path.stem for path in MODULES if ".writable(" in path.read_text(encoding="utf-8")}
    assert writers == {"bounds_state", "merge"}


def test_no_two_modules_have_one_name() -> None:
    names = Counter(path.stem for path in MODULES if path.stem not in ("__init__", "__main__"))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_circle_of_files() -> None:
    """Imports within functions and under ``TYPE_CHECKING`` count too."""
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES}
    graph = networkx.DiGraph()
    for name, path in names.items():
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module:
                for each in node.names:
                    inner = f"{node.module}.{each.name}"
                    graph.add_edge(name, inner if inner in names else node.module)
            elif isinstance(node, ast.Import):
                graph.add_edges_from((name, each.name) for each in node.names)
    circles = [sorted(each) for each in networkx.strongly_connected_components(graph) if len(each) > 1]
    assert circles == []


HEAVY = ("torch", "networkx", "pandas", "jinja2", "matplotlib")
DATA = (*HEAVY, "numpy", "pyarrow")
PROGRAM = "predicate C(p, p)\nfact A(anna)\nrule A(X) & C(X, Y) -> A(Y)\nquery A(X)\n"


def modules_after(script: str, *arguments: str) -> set[str]:
    """The top-level modules that a script has imported at its end, in a process of its own."""
    code = f"import sys\n{script}\nprint('MODULES', *{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("MODULES ")[2].split())


CHECK = "from lnnkit.cli import main\nassert main(['check', sys.argv[1]]) == 0"


def test_what_checks_or_refuses_is_light(tmp_path: Path) -> None:
    (tmp_path / "p.lnn").write_text(PROGRAM)
    (tmp_path / "wrong.lnn").write_text("rule A(X) -> \n")
    script = f"{CHECK}\nassert main(['run', sys.argv[2]]) == 1"
    assert not modules_after(script, str(tmp_path / "p.lnn"), str(tmp_path / "wrong.lnn")).intersection(DATA)


def test_check_with_data_is_light(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("a,b\nanna,bob\n")
    (tmp_path / "p.lnn").write_text(PROGRAM + 'load C from "c.csv"\n')
    met = modules_after(CHECK, str(tmp_path / "p.lnn"))
    assert "pyarrow" in met
    assert not met.intersection(HEAVY)


def test_inference_answers_explanations_and_proofs_need_no_torch(tmp_path: Path) -> None:
    calls = ("kb.tell('A', [['bob']])", "kb.label('A', [['bob']])", "kb.replace_queries(['A(anna)'])", "kb.text")
    graphs = ("kb.graph", "kb.draw()", "kb.draw('A')", "kb.assume({'A(bob)': 1.0})")
    inferring = ("kb.infer()", "kb.ask('A(X)')", "kb.explain('A(anna)')", "kb.why_not('A(bob)')", "kb.conflicts()")
    start = ("import lnnkit", "kb = lnnkit.load(sys.argv[1])", "kb.save(sys.argv[1])")
    proving = ("kb.prove('A(bob)')", "kb.explain('A(bob)', exact=True)")
    script = "\n".join((*start, *calls, *graphs, *inferring, *proving))
    (tmp_path / "p.lnn").write_text(PROGRAM)
    assert "torch" not in modules_after(script, str(tmp_path / "p.lnn"))


CHECKER = (
    "checker.proof_checker", "checker.proof_world", "checker.ground_form", "checker.exact_step", "proof.proof",
)  # fmt: skip


@pytest.mark.parametrize("name", CHECKER)
def test_the_checker_of_proofs_knows_no_engine(name: str) -> None:
    """It stands on the program and on the kernels of the logics and of arithmetic."""
    assert {f"checker.{path.stem}" for path in (PACKAGE / "explain" / "checker").glob("*.py")} - {
        "checker.__init__"
    } <= set(CHECKER)
    tree = ast.parse((PACKAGE / "explain" / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8"))
    named = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    own = {module for module in named if module.startswith("lnnkit.explain.")}
    assert {layer(module) for module in named - own if module.startswith("lnnkit")} <= {
        "check",
        "data",
        "arrays",
        "logic",
        "numeric",
        "syntax",
    }
    assert own <= {f"lnnkit.explain.{each}" for each in CHECKER}
