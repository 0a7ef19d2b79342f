"""What people say of an answer: it helped, it did not, it is wrong. Kept as a category, never as words."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from clara.answering.message import Act, Reply, ReplyStatus, Turn
from clara.answering.privacy.wishes import Wish, Wishes
from clara.answering.texts import Texts

_ACTS: Final = {
    Wish.HELPFUL: (Act.HELPFUL, "feedback_helpful"),
    Wish.UNHELPFUL: (Act.UNHELPFUL, "feedback_unhelpful"),
    Wish.WRONG: (Act.WRONG, "feedback_wrong"),
}
# The spans that an operator sees, in days.
SPANS: Final = (7, 30)


class Feedback:
    """Takes a rating of the last answer: a whole message that is one. A bare "thanks" is none."""

    def __init__(self, wishes: Wishes, texts: Texts) -> None:
        self._wishes = wishes
        self._texts = texts

    def answer(self, turn: Turn, human: str) -> Turn | Reply:
        """Thank for a rating, or pass the turn on. `human` says how to reach a person, for whom the answer did not help."""
        recognised = self._wishes.recognise(turn.question, turn.language, tuple(_ACTS))
        if recognised is None:
            return turn
        wish, language = recognised
        act, name = _ACTS[wish]
        return Reply(self._texts.say(language, name, human=human).strip(), ReplyStatus.FEEDBACK, language, act=act)


@dataclass(frozen=True, slots=True)
class Rated:
    """How answers of one kind were rated. `answers` were given, `ratings` counts what was said of them by category."""

    answers: int = 0
    helpful: int = 0
    unhelpful: int = 0
    wrong: int = 0

    def as_json(self) -> dict[str, Any]:
        """Give counts and shares; a share of nothing is null."""
        rated = self.helpful + self.unhelpful + self.wrong
        return {
            "answers": self.answers,
            "rated": rated,
            **asdict(self),
            "helpful_share": round(self.helpful / rated, 4) if rated else None,
            "rated_share": round(rated / self.answers, 4) if self.answers else None,
        }


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """Ratings of the last `days`, altogether and by what the answers were: procedure, language, tier, each by its name."""

    days: int
    total: Rated
    by: Mapping[str, Mapping[str, Rated]]

    def as_json(self) -> dict[str, Any]:
        """Give it as JSON holds it."""
        groups = {kind: {name: rated.as_json() for name, rated in named.items()} for kind, named in self.by.items()}
        return {"days": self.days, "total": self.total.as_json(), **groups}


def satisfaction_json(spans: Sequence[Satisfaction]) -> dict[str, Any]:
    """Give what an operator reads: the spans, the shortest first."""
    return {"spans": [span.as_json() for span in spans]}
