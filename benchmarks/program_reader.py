"""Reads programs, each a line of JSON, from standard input, and writes what lnnkit says of each as a line of JSON."""

from __future__ import annotations

import json
import sys

import lnnkit


def said(text: str) -> dict[str, object]:
    try:
        kb = lnnkit.loads(text)
        outcome = kb.infer()
        answers = kb.answers()
    except lnnkit.Error as error:
        return {"refused": ", ".join(sorted({each.code for each in error.diagnostics}))}
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    return {
        "answers": {
            f"{number} {each.query} {json.dumps(dict(sorted(answer.bindings.items())))}": (answer.lower, answer.upper)
            for number, each in enumerate(answers)
            for answer in each
        },
        "contradictions": [
            (each.kind, each.atom, each.rule, each.lower, each.upper) for each in outcome.contradictions
        ],
        "status": outcome.status,
        "rounds": outcome.rounds,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(said(json.loads(line))), flush=True)
