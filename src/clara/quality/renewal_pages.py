"""What ends, as an editor plans it: by the rule that sets what comes after, with the days on which that is published."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.derivations import read_derivations
from clara.knowledge.renewals import EndingFact, RenewalRule, by_rule, ending, read_renewals
from clara.plain_text import counted, wrapped
from clara.settings import resources

# Facts of a year end on 31 December; the last of what renews them is out two months later.
AHEAD: Final = timedelta(days=66)
NO_RULE: Final = "No rule of data/renewals.json renews these; add them to one, or find out yourself"

Answers = Mapping[str, int] | None


def what_ends(catalogue: Catalogue, today: date, by: date) -> list[EndingFact]:
    """Give the facts told today that end until `by`, with the rules that renew them. Raises DataError."""
    data = resources() / "data"
    derivations = read_derivations(data)
    return ending(catalogue, read_renewals(data, catalogue, derivations), derivations, today, by)


def ends_as_json(ends: Sequence[EndingFact], answers: Answers) -> list[dict[str, Any]]:
    """Write what ends as JSON; `answers` are those of the last 30 days by fact, None where nobody could count them."""
    return [
        {
            "fact": one.fact.id,
            "procedure": one.procedure,
            "ends": one.ends.isoformat(),
            "text": one.fact.text,
            "rule": one.rule and one.rule.id,
            "published": one.rule and [day.isoformat() for day in one.rule.window(one.ends)],
            "recent_answers": None if answers is None else answers.get(one.fact.id, 0),
        }
        for one in ends
    ]


def page_of_ends(ends: Sequence[EndingFact], by: date, answers: Answers) -> Iterator[str]:
    """Give the page, rule by rule: when its successor is due, what holds until then, and its facts, the most asked first."""
    if not ends:
        yield f"Nothing that is told ends until {by}."
        return
    yield f"{counted(len(ends), 'fact')} that are told end until {by}."
    if answers is None:
        yield "Nobody could count how often they were asked: there is no database. Start one with `clara up`."
    for rule, found in by_rule(ends).items():
        yield ""
        yield from _heading(rule, found)
        for one in sorted(found, key=lambda one: -(answers or {}).get(one.fact.id, 0)):
            asked = f", {counted(answers[one.fact.id], 'answer')} in 30 days" if answers and one.fact.id in answers else ""
            yield wrapped(f"{one.ends}  {one.fact.id}{asked}: {one.fact.text}", "  ", "      ")


def _heading(rule: RenewalRule | None, found: Sequence[EndingFact]) -> Iterator[str]:
    if rule is None:
        yield f"{NO_RULE} ({len(found)}):"
        return
    first, last = rule.window(found[0].ends)
    yield f"{rule.title} ({len(found)})"
    yield wrapped(f"Usually published between {first} and {last}; `clara boe --check` alerts when it is.", "  ", "  ")
    yield wrapped(f"Until then: {rule.meanwhile}", "  ", "  ")
