"""The figures of a run, as values and as a table."""

from collections.abc import Callable, Mapping, Sequence

from clara.evaluation.gate import BY_CATEGORY
from clara.evaluation.measures import MEASURES, interval
from clara.evaluation.outcome import Outcome

GROUPS: Mapping[str, Callable[[Outcome], str]] = {
    "category": lambda outcome: outcome.question.category,
    "language": lambda outcome: outcome.question.language,
    "difficulty": lambda outcome: outcome.question.difficulty,
}


def results_of(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Take every measure over all outcomes, and over each category ("hit@1:plazos")."""
    results = {name: measure(outcomes) for name, measure in MEASURES.items()}
    for category in sorted({outcome.question.category for outcome in outcomes}):
        of_category = [outcome for outcome in outcomes if outcome.question.category == category]
        results |= {f"{name}{BY_CATEGORY}{category}": measure(of_category) for name, measure in MEASURES.items()}
    return results


def table_of(outcomes: Sequence[Outcome]) -> str:
    """Write the measures with their intervals, then the share of right outcomes by category, language and difficulty."""
    lines = ["| measure | value | 95 % interval |", "|---|---|---|"]
    for name, measure in MEASURES.items():
        spread = interval(measure, outcomes)
        shown = "-" if spread is None else f"{_share(spread[0])} - {_share(spread[1])}"
        lines.append(f"| {name} | {_share(measure(outcomes))} | {shown} |")
    for name, group in GROUPS.items():
        lines += ["", f"| {name} | right | of |", "|---|---|---|"]
        for value in sorted({group(outcome) for outcome in outcomes}):
            members = [outcome for outcome in outcomes if group(outcome) == value]
            lines.append(f"| {value} | {sum(outcome.right for outcome in members)} | {len(members)} |")
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
