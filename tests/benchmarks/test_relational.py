"""The relational benchmark: data that give the known answers, engines that agree, a report that copes with gaps."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import lnnkit
from benchmarks import lubm
from benchmarks.relational import agreement, growth, report, targets, workloads
from benchmarks.relational.__main__ import main
from benchmarks.relational.data import Data
from benchmarks.relational.engines import ENGINES
from benchmarks.relational.engines import selected as selected_engines
from benchmarks.relational.race import Limits, Result, race
from benchmarks.relational.workloads import WORKLOADS, Checks
from tests.blocks import at_length
from tests.oracle import Fact, Predicate, Program, Statement, run


def made(workload: str, size: int, folder: Path) -> Data:
    path = folder / f"{workload}-{size}"
    workloads.write(WORKLOADS[workload], size, path)
    return Data(path)


def checks(engine: str, workload: str, data: Data) -> Checks:
    prepared = ENGINES[engine].runs()[workload](data)
    prepared.infer()
    return prepared.read()


def done(engine: str, workload: str, data: Data) -> Result:
    return Result(workload, data.size, engine, "done", cpu=1.0, peak=100.0, checks=checks(engine, workload, data))


# --- the data and the answers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workload", "size"),
    [
        *(("closure", size) for size in (10, 20, 30, 50, 100, 1000)),
        *(("chain", size) for size in (50, 100, 300)),
        *(("smokers", size) for size in (1000, 10_000)),
        *(("generation", size) for size in (20, 1000)),
    ],
)
def test_the_floor_gives_the_published_answers(workload: str, size: int, tmp_path: Path) -> None:
    known = {"chain": {"answers": size * (size - 1) / 2}}.get(workload) or WORKLOADS[workload].known[size]
    found = checks("numpy", workload, made(workload, size, tmp_path))
    for name, value in known.items():
        assert found[name] == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize(
    ("workload", "size"),
    [
        ("closure", 50),
        ("chain", 30),
        ("smokers", 1000),
        ("smokers-open", 300),
        ("table", 200),
        ("eligible", 200),
        ("held", 200),
        ("generation", 50),
        ("ibm-smokers", 100),
        ("ibm-chain", 15),
    ],
)
def test_lnnkit_agrees_with_the_floor(workload: str, size: int, tmp_path: Path) -> None:
    data = made(workload, size, tmp_path)
    assert list(agreement.differences([done(engine, workload, data) for engine in ("lnnkit", "numpy")])) == []


@pytest.mark.parametrize("workload", sorted(ENGINES["duckdb"].workloads))
def test_duckdb_agrees_with_lnnkit(workload: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    if workload == "ontology" and not (lubm.DATA / "tbox.tsv").is_file():
        pytest.skip(f"no LUBM data in {lubm.DATA}; set LNNKIT_DATA")
    data = made(workload, 1 if workload == "ontology" else 100, tmp_path)
    assert list(agreement.differences([done(engine, workload, data) for engine in ("lnnkit", "duckdb")])) == []


def test_the_table_passes_something_down(tmp_path: Path) -> None:
    data = made("table", 200, tmp_path)
    found = checks("lnnkit", "table", data)
    assert found["contradictions"] == 0
    assert found["operand upper"] < data.values("p0_upper").sum() - 0.1


def test_open_smokers_are_those_of_full_grounding(tmp_path: Path) -> None:
    """The oracle grounds every pair of a dozen people; friendships of smokers with non-smokers are among them."""
    data = made("smokers-open", 12, tmp_path)
    known = [(people, truth) for people, truth in ((data.ids("smokers"), 1.0), (data.ids("non_smokers"), 0.0))]
    facts = [Fact("friends", (str(a), str(b)), 1.0, 1.0) for a, b in data.ids("friends").tolist()]
    facts += [Fact("smokes", (str(person),), truth, truth) for people, truth in known for person in people.tolist()]
    x, y = ("var", "X"), ("var", "Y")
    body = ("and", ((1.0, ("atom", "smokes", (x,))), (1.0, ("atom", "friends", (x, y)))), 1.0, None)
    rule = ("implies", (1.0, body), (1.0, ("atom", "smokes", (y,))), 1.0, None)
    predicates = [Predicate("friends", 2, ("person", "person")), Predicate("smokes", 1, ("person",))]
    result = run(
        Program(predicates, facts, [Statement("rule", rule, 0.9)], [("atom", "smokes", (x,))], sorts={"person": False})
    )
    informative = [answer for answer in result.answers[0].values() if (answer.lower, answer.upper) != (0.0, 1.0)]
    for engine in ("lnnkit", "numpy"):
        found = checks(engine, "smokers-open", data)
        assert found["answers"] == len(informative)
        assert found["lower"] == pytest.approx(sum(answer.lower for answer in informative))
        assert found["upper"] == pytest.approx(sum(answer.upper for answer in informative))
        assert found["contradictions"] == len(result.contradictions) > 0


@pytest.mark.parametrize("copies", at_length([2, 1, 21], plain=1))
def test_more_departments_have_as_many_more_triples(copies: int, tmp_path: Path) -> None:
    if not (lubm.DATA / "tbox.tsv").is_file():
        pytest.skip(f"no LUBM data in {lubm.DATA}; set LNNKIT_DATA")
    data = made("ontology", copies, tmp_path)
    lines = (data.folder / "abox.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == int(data.ids("triples"))
    if copies < 3:
        assert checks("lnnkit", "ontology", data)["answers"] == int(data.ids("true"))


# --- the race and its report ------------------------------------------------------------------------------------------


def results() -> list[Result]:
    return [
        Result(
            "closure", 3000, "lnnkit", "done", cpu=2.0, wall=2.5, whole=3.0, peak=800, checks={"answers": 5_727_868}
        ),
        Result(
            "closure", 3000, "duckdb", "done", cpu=4.0, wall=4.5, whole=5.0, peak=400, checks={"answers": 5_727_868}
        ),
        Result("closure", 3000, "clingo", "not installed"),
        Result("closure", 3000, "psl", "over the limit", note="60 CPU s"),
    ]


def test_a_missing_peer_is_reported() -> None:
    found = results()
    lines = list(report.text(found, [], targets.verdicts(found), ["lnnkit", "duckdb", "clingo", "psl"]))
    shown = "\n".join(lines)
    assert "\nW1 closure of a random digraph (nodes) [closure]" in lines
    cells = [line.split() for line in lines]
    assert ["duckdb", "4.00", "4.50", "0.50", "5.00", "0.60", "400", "2.00", "5,727,868"] in cells
    assert ["clingo", "not", "installed"] in cells
    assert ["psl", "over", "the", "limit", "60", "CPU", "s"] in cells
    assert "target at 3,000: CPU seconds, at most 1 x duckdb: 0.50 x: reached" in shown
    assert "peak memory under 2,048 MB: 800.00 MB: reached" in shown
    assert "AGREE" not in shown


def test_a_target_whose_peer_is_missing_is_not_measured() -> None:
    own = results()[:1]
    assert [verdict.reached for verdict in targets.verdicts(own)] == [None, True]
    assert "not measured" in "\n".join(report.text(own, [], targets.verdicts(own), ["lnnkit"]))


def test_unknown_differences_are_reported() -> None:
    right, _, _, _ = results()
    wrong = Result("closure", 3000, "duckdb", "done", cpu=1.0, checks={"answers": 5_727_867})
    astray = Result("closure", 3000, "pyreason", "done", cpu=1.0, checks={"answers": 5_700_000})
    found = list(agreement.differences([right, wrong, astray]))
    assert [(difference.engine, difference.known) for difference in found] == [("duckdb", False), ("pyreason", True)]
    shown = "\n".join(report.text([right, wrong, astray], found, [], ["lnnkit", "duckdb", "pyreason"]))
    assert "THE ENGINES DO NOT AGREE" in shown
    assert "duckdb has answers 5,727,867, but the published figure says 5,727,868" in shown
    assert "pyreason has" not in shown
    assert "differs, as known" in shown


def test_the_first_engine_is_believed_where_nothing_is_published() -> None:
    one, two = (
        Result("table", 77, engine, "done", checks={"rows": rows, "rounds": rows})
        for engine, rows in (("lnnkit", 3), ("numpy", 4))
    )
    (difference,) = agreement.differences([one, two])
    assert (difference.engine, difference.check, difference.source) == ("lnnkit", "rows", "numpy")


def test_growth_is_measured_in_instances() -> None:
    runs = [
        Result("chain", size, engine, "done", cpu=seconds, checks={"answers": count, "instances": 2 * count})
        for size, count, seconds in ((10, 50, 1.0), (100, 5000, 200.0))
        for engine in ("lnnkit", "numpy")
    ]
    small, large = growth.points(runs)
    assert (small.instances, large.instances, large.answers) == (100, 10_000, 5000)
    assert large.rate == pytest.approx(20_000)
    assert growth.slope(small, large) == pytest.approx(np.log(200) / np.log(100))
    assert any(line.split()[-1] == "1.15" for line in growth.text([small, large]) if line.strip())


def test_a_race_of_two(tmp_path: Path) -> None:
    floor = ENGINES["numpy"]
    (small, large) = race(WORKLOADS["chain"], (20, 30), [floor], Limits(repeat=1), tmp_path)
    assert (small.state, large.state) == ("done", "done")
    assert (small.checks["answers"], large.checks["answers"]) == (190, 435)
    assert 10 < large.peak < 200  # of its own process: this one has torch in it


@pytest.mark.slow
def test_an_earlier_checkout_runs_beside_this_one(tmp_path: Path) -> None:
    """Here the same one, under another name: its own lnnkit is imported, not the one that is installed."""
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    root = Path(lnnkit.__file__).parents[1]
    for folder in ("lnnkit", "grammar"):
        shutil.copytree(root / folder, earlier / folder)
    limits = Limits(repeat=1, against=earlier)
    (found,) = race(WORKLOADS["chain"], (20,), [ENGINES["before"]], limits, tmp_path / "data")
    assert found.state == "done", found.note
    assert (found.state, found.checks["answers"], found.runs >= 2) == ("done", 190, True)
    assert found.whole >= found.cpu / 2
    (earlier / "lnnkit" / "__init__.py").write_text("raise ImportError('of the earlier checkout')\n")
    (found,) = race(WORKLOADS["chain"], (20,), [ENGINES["before"]], limits, tmp_path / "data")
    assert (found.state, found.note) == ("failed", "ImportError: of the earlier checkout")


def test_an_engine_that_fails_is_not_tried_again(tmp_path: Path) -> None:
    found = race(WORKLOADS["chain"], (20, 30), [ENGINES["numpy"]], Limits(wall=0.01), tmp_path)
    assert [result.state for result in found] == ["over the limit", "not tried"]


def test_choices() -> None:
    assert [workload.key for workload in workloads.selected("w4,table")] == ["table", "generation"]
    assert "pyreason" not in [engine.name for engine in selected_engines(None)]
    assert "psl" not in [engine.name for engine in selected_engines(None, quick=True)]
    assert [engine.name for engine in selected_engines("pyreason")] == ["pyreason"]
    assert "before" not in [engine.name for engine in selected_engines(None)]
    with pytest.raises(SystemExit):
        main(["--engines", "lnnkit, Before"])
    with pytest.raises(ValueError, match="no workload w9"):
        workloads.selected("w9")
    with pytest.raises(ValueError, match="no engine prolog"):
        selected_engines("prolog")
