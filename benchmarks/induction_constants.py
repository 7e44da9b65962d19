"""What the constants of rule induction change: ``python -m benchmarks.induction_constants``.

The balanced accuracy of `lnnkit.sklearn.RuleClassifier` on a held-out half of each table, at several values of each
constant, and the CPU seconds of all tables together. At most ``ROWS`` rows of a table are read, so that a run takes
minutes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from unittest import mock

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from benchmarks.tables.data import TABLES, read
from lnnkit.learn.induction import induced_rule, rule_induction, table_literals, weighted_rules
from lnnkit.sklearn import RuleClassifier

ROWS = 800
CONSTANTS = {
    (rule_induction, "LONGEST"): (3, 12),
    (rule_induction, "_BEAM"): (5, 80),
    (rule_induction, "_DECIDED"): (0.05, 0.75),
    (rule_induction, "_CHANCE"): (1.5, 5.0),
    (rule_induction, "_IDLE"): (1.0, 4.0),
    (rule_induction, "_SKETCH"): (1000, 16000),
    (rule_induction, "_HOPELESS"): (0.8, 0.97),
    (rule_induction, "_CLEAN"): (0.97, 1.0),
    (rule_induction, "_SLIPS"): (0.1, 2.0),
    (weighted_rules, "_SURE"): (0.5, 4.0),
    (induced_rule, "NEAREST"): (25, 400),
    (induced_rule, "_BEYOND"): (1.01, 1.5),
    (induced_rule, "_DONORS"): (200, 8000),
    (table_literals, "_THRESHOLDS"): (6, 40),
    (table_literals, "_VALUES"): (10, 200),
    (table_literals, "_LEAST"): (1, 10),
    (table_literals, "_GRADED"): (3, 20),
}


def accuracies(names: Sequence[str]) -> list[float]:
    found = []
    for name in names:
        rows = read(TABLES[name])
        kept = np.random.default_rng(0).permutation(len(rows.frame))[:ROWS]
        frame, positive = rows.frame.iloc[kept], rows.positive[kept]
        train, test, known, wanted = train_test_split(frame, positive, test_size=0.5, random_state=0, stratify=positive)
        rules = RuleClassifier(random_state=0).fit(train, known)
        found.append(float(balanced_accuracy_score(wanted, rules.predict(test))))
    return found


def main() -> None:
    names = tuple(TABLES)
    before = accuracies(names)
    print("as it is:", " ".join(f"{name} {each:.3f}" for name, each in zip(names, before, strict=True)))
    for (module, constant), values in CONSTANTS.items():
        for value in values:
            start = time.process_time()
            with mock.patch.object(module, constant, value):
                after = accuracies(names)
            changed = [
                f"{name} {new - old:+.3f}"
                for name, new, old in zip(names, after, before, strict=True)
                if abs(new - old) > 1e-9
            ]
            own = f"{module.__name__.rpartition('.')[2]}.{constant} = {value} (not {getattr(module, constant)})"
            print(f"{own}: {time.process_time() - start:.1f} s;", ", ".join(changed) or "no change", flush=True)


if __name__ == "__main__":
    main()
