"""Two runs question by question: how far apart their means are, how sure that is, and which questions changed side."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from clara_lab.bench.ranking import RERANKED, first_gold_rank
from clara_lab.bench.record import IncomparableRunsError, RunRecord, Score, finite
from clara_lab.bench.summary import Estimate, estimates, mcnemar_p, measured_rows, randomisation_p
from clara_lab.templates import rendered

# From which F1 on an answer counts as right when asking which questions changed side.
RIGHT_F1: Final = 0.5
# Whose change of side is told question by question; these are the hits at the depths that people look at, and the answer.
SIDES: Final[Mapping[str, Callable[[float], bool]]] = {
    "hit@1": bool,
    "hit@5": bool,
    "hit@10": bool,
    f"{RERANKED}hit@1": bool,
    f"{RERANKED}hit@5": bool,
    "accuracy": bool,
    "exact_match": bool,
    "f1": lambda value: value >= RIGHT_F1,
}
# What only turns another measure round; leaving it out keeps the table readable.
_TURNED: Final = ("failure@", "complement_recall@", f"{RERANKED}failure@", f"{RERANKED}complement_recall@")


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure in both runs, over the `count` questions that have it in both.

    `difference` is second minus first with its paired bootstrap interval; `p` of the randomisation test; `mcnemar` of the
    exact test, for measures of 0 or 1. `better` and `worse` count questions.
    """

    name: str
    first: float
    second: float
    difference: Estimate
    p: float
    mcnemar: float | None
    better: int
    worse: int
    count: int


@dataclass(frozen=True, slots=True)
class Changed:
    """A question that changed side in a measure, with the ranks of its first answering document in both runs."""

    question: str
    text: str
    measure: str
    first: float
    second: float
    first_rank: int | None
    second_rank: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs over the `count` questions that both have. `same_data` is False when the comparison was forced."""

    first: str
    second: str
    count: int
    only_first: int
    only_second: int
    same_data: bool
    relative_only: bool
    differences: tuple[Difference, ...]
    changed: tuple[Changed, ...]
    settings: Mapping[str, tuple[Any, Any]]


def compare(first: RunRecord, second: RunRecord, *, forced: bool = False) -> Comparison:
    """Compare two runs over the same data. Raises IncomparableRunsError.

    Over different data means differ for reasons of their own: `forced` compares the questions with the same id all the same.
    """
    digests = [str(run.data.get("digest", "unknown")) for run in (first, second)]
    same_data = digests[0] == digests[1] != "unknown"
    if not same_data and not forced:
        raise IncomparableRunsError(
            f"{first.run_id} is over data {digests[0][:16]}, {second.run_id} over {digests[1][:16]}: use the same data set, "
            "seed and cut for both, or force the comparison of the questions that both have"
        )
    held = [{one.question.id: at for at, one in enumerate(run.questions)} for run in (first, second)]
    pairs = [(at, held[1][name]) for name, at in held[0].items() if name in held[1]]
    if not pairs:
        raise IncomparableRunsError(f"{first.run_id} and {second.run_id} have no question in common; compare other runs")
    ours, theirs = measured_rows(first.questions), measured_rows(second.questions)
    rows = [(ours[at], theirs[also]) for at, also in pairs]
    names = sorted(first.plan.keys() | second.plan.keys())
    settings = {name: (first.plan.get(name), second.plan.get(name)) for name in names}
    return Comparison(
        first.run_id,
        second.run_id,
        len(pairs),
        len(first.questions) - len(pairs),
        len(second.questions) - len(pairs),
        same_data,
        bool(first.data.get("relative_only") or second.data.get("relative_only")),
        tuple(_differences(rows)),
        tuple(_changed(first, second, pairs, rows)),
        {name: both for name, both in settings.items() if both[0] != both[1]},
    )


Rows = Sequence[tuple[Mapping[str, Score], Mapping[str, Score]]]


def _differences(rows: Rows) -> list[Difference]:
    names = list(dict.fromkeys(name for one, other in rows for name in one if name in other and not name.startswith(_TURNED)))
    absent = Score(None)
    values = {name: [(one.get(name, absent).value, other.get(name, absent).value) for one, other in rows] for name in names}
    moved = {
        name: [None if one is None or other is None else other - one for one, other in pairs] for name, pairs in values.items()
    }
    found, chances = estimates(moved), randomisation_p(moved)
    differences = []
    for name, difference in found.items():
        pairs = [(one, other) for one, other in values[name] if one is not None and other is not None]
        first, second = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
        better, worse = sum(other > one for one, other in pairs), sum(other < one for one, other in pairs)
        mcnemar = mcnemar_p(better, worse) if {value for pair in pairs for value in pair} <= {0.0, 1.0} else None
        differences.append(Difference(name, first, second, difference, chances[name], mcnemar, better, worse, len(pairs)))
    return differences


def _changed(first: RunRecord, second: RunRecord, pairs: Sequence[tuple[int, int]], rows: Rows) -> list[Changed]:
    changed = []
    for name, is_right in SIDES.items():
        for (at, also), (one, other) in zip(pairs, rows, strict=True):
            before, after = one.get(name, Score(None)).value, other.get(name, Score(None)).value
            if before is None or after is None or is_right(before) == is_right(after):
                continue
            question = first.questions[at].question
            ranks = [first_gold_rank(run.retrieved, question.gold) for run in (first.questions[at], second.questions[also])]
            changed.append(Changed(question.id, question.text, name, before, after, ranks[0], ranks[1]))
    return changed


NOT_CORRECTED: Final = "Each p is of one measure alone: of twenty measures, one is below .05 by chance."
NOT_THE_SAME: Final = (
    "The runs are over DIFFERENT data; only questions with the same id were compared, and means may differ for that alone."
)
HEADS: Final = ("measure", "first", "second", "difference", "95 % interval", "p", "McNemar p", "better", "worse", "questions")
# Below, a p is given as being below: the tests cannot tell much less apart.
LEAST_P: Final = 0.001
# The measures whose gains and losses are drawn, if the runs have them.
DRAWN: Final = ("hit@1", "recall@5", "ndcg@10", "mrr", "f1", "accuracy")


def comparison_text(compared: Comparison) -> str:
    """Give the table of differences, the settings that differ and how many questions changed side, as plain text."""
    rows = [HEADS, *map(cells_of, compared.differences)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]
    settings = {name: tuple(map(shown_value, both)) for name, both in compared.settings.items()}
    changed = changed_by_measure(compared)
    told = {"notes": notes_of(compared), "table": table, "not_corrected": NOT_CORRECTED, "settings": settings}
    return rendered("comparison.txt", **told, changed=changed)


def changed_by_measure(compared: Comparison) -> dict[str, tuple[list[Changed], list[Changed]]]:
    """Give for each measure in which questions changed side those that gained and those that lost."""
    found: dict[str, tuple[list[Changed], list[Changed]]] = {}
    for one in compared.changed:
        found.setdefault(one.measure, ([], []))[one.second < one.first].append(one)
    return found


def comparison_json(compared: Comparison) -> str:
    """Give everything of the comparison as JSON."""
    return json.dumps(finite(asdict(compared)), indent=1) + "\n"


def notes_of(compared: Comparison) -> list[str]:
    """Say which runs are compared, and what is to be known of it."""
    notes = [f"{compared.second} against {compared.first}: {compared.count} questions"]
    if not compared.same_data:
        notes.append(NOT_THE_SAME)
    if compared.only_first or compared.only_second:
        notes.append(
            f"Left out: {compared.only_first} questions of the first run alone, {compared.only_second} of the second alone."
        )
    if compared.relative_only:
        notes.append("Relative only: the figures compare these runs with each other, and with nothing published.")
    return notes


def cells_of(one: Difference) -> tuple[str, ...]:
    """Give the cells of one measure under HEADS."""
    mcnemar = "–" if one.mcnemar is None else _p(one.mcnemar)
    bounds = f"{one.difference.low:+.4f} to {one.difference.high:+.4f}"
    means = (f"{one.first:.4f}", f"{one.second:.4f}", f"{one.difference.mean:+.4f}")
    return (one.name, *means, bounds, _p(one.p), mcnemar, str(one.better), str(one.worse), str(one.count))


def _p(value: float) -> str:
    return f"<{LEAST_P}" if value < LEAST_P else f"{value:.3f}"


def shown_value(value: Any) -> str:  # noqa: ANN401  whatever a plan holds
    """Give a value of a plan as it is shown."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
