"""What a person may ask about themselves: to be forgotten, to know what is kept, to be remembered or not, to be left alone.

And what they say of an answer: it helped, it did not, it is wrong. It is kept as a category, never as words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final

from clara.answering.message import Act, Reply, ReplyStatus, Turn
from clara.answering.privacy.wishes import Wish, Wishes
from clara.answering.texts import Texts
from clara.answering.writing.frame import shown_date
from clara.retrieval.classifier import TextClassifier, VectorOf, by_letters
from clara.retrieval.turn_vectors import TurnVectors

# How long things are kept; upkeep forgets them, and the texts say so. A month lets an operator look into a complaint; a year of
# figures shows whether answers get better from one season of deadlines to the same one of the next year.
ADDRESS_HOURS: Final = 24
TEXT_DAYS: Final = 30
FIGURE_DAYS: Final = 365
# What the question "shall I forget everything?" offers.
FORGET, KEEP = "forget_me", "keep_me"
OPTIONS: Final = (FORGET, KEEP)
# The same where only the model heard the wish: then "yes" alone is not enough, because it may answer something else.
GUESSED: Final = (*OPTIONS, "guessed")
# Who writes more characters than this tells a story, and is not asking for this alone.
LONGEST: Final = 400
# From this probability on a wish is plain, also where danger is heard beside it: "my husband must not find out, delete it all".
PLAIN: Final = 0.6
_CHOICES: Final = {
    Wish.EXPORT: None,
    Wish.STOP: ("rights_stop", None),
    Wish.REMEMBER: ("rights_remember", Act.REMEMBER),
    Wish.DO_NOT_REMEMBER: ("rights_do_not_remember", Act.DO_NOT_REMEMBER),
}
_ACTS: Final = {
    Wish.HELPFUL: (Act.HELPFUL, "feedback_helpful"),
    Wish.UNHELPFUL: (Act.UNHELPFUL, "feedback_unhelpful"),
    Wish.WRONG: (Act.WRONG, "feedback_wrong"),
}
_SAID: Final = (Wish.ERASE, Wish.CONFIRM, Wish.EXPORT, Wish.DO_NOT_REMEMBER, Wish.REMEMBER, Wish.STOP, Wish.DOUBT)


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept of a person, before the message that asks. Days are Spain's.

    `texts` are the messages whose words are still there, `ratings` what the person said of answers. `memory` is whether what
    was said a moment ago may be used; `chosen` whether the person said so.
    """

    messages: int = 0
    texts: int = 0
    first_on: date | None = None
    last_on: date | None = None
    languages: tuple[str, ...] = ()
    ratings: int = 0
    memory: bool = True
    chosen: bool = False


def asks_to_forget(options: Sequence[str]) -> bool:
    """Whether a reply with these options asks whether to forget everything."""
    return tuple(options[: len(OPTIONS)]) == OPTIONS


@dataclass(frozen=True, slots=True)
class Rights:
    """Answers wishes about oneself. It only decides: what must be done stands in the reply's `act`.

    `model` hears wishes to be forgotten that no phrase says; what it hears is asked about, never done.
    """

    wishes: Wishes
    texts: Texts
    model: TextClassifier
    vector: VectorOf = by_letters

    def answer(self, turn: Turn, known: Callable[[], Known] | None = None) -> Turn | Reply:
        """Answer a wish, or pass the turn on. `known` is called only by who asks what is kept, and may raise what it raises.

        Without `known`, what is kept cannot be read now, and the reply says so.
        """
        if answered := self._decided(turn):
            return answered
        recognised = self.wishes.recognise(turn.question, turn.language, _SAID)
        if recognised is None:
            return turn
        wish, language = recognised
        if wish in (Wish.ERASE, Wish.CONFIRM):
            return self._erased(language)
        if wish is Wish.DOUBT:
            return self._asked(language)
        trace = {"wish": wish.value}
        if choice := _CHOICES[wish]:
            return Reply(self.texts.say(language, choice[0]), ReplyStatus.RIGHTS, language, trace=trace, act=choice[1])
        text = self._listed(known(), language) if known else self.texts.say(language, "rights_unknown")
        return Reply(text, ReplyStatus.RIGHTS, language, trace=trace)

    def ask(self, turn: Turn) -> Turn | Reply:
        """Ask back where the model hears a wish to be forgotten that no phrase says.

        Nobody is asked twice in a row, and who may be in danger only where it is plain.
        """
        asked = bool(turn.past) and asks_to_forget(turn.past[0].options)
        if not turn.question or len(turn.question) > LONGEST or asked:
            return turn
        share, least = self._heard(turn)
        return self._asked(turn.language, GUESSED) if share >= (max(least, PLAIN) if turn.alarm.raised else least) else turn

    def rate(self, turn: Turn, human: str) -> Turn | Reply:
        """Thank for a rating of the last answer, a whole message that is one, or pass the turn on. A bare "thanks" is none.

        `human` says how to reach a person, for whom the answer did not help.
        """
        recognised = self.wishes.recognise(turn.question, turn.language, tuple(_ACTS))
        if recognised is None:
            return turn
        wish, language = recognised
        act, name = _ACTS[wish]
        return Reply(self.texts.say(language, name, human=human).strip(), ReplyStatus.FEEDBACK, language, act=act)

    def plainly(self, turn: Turn) -> bool:
        """Whether the model plainly hears a wish to be forgotten: then help stands above the question."""
        return 0 < len(turn.question) <= LONGEST and self._heard(turn)[0] >= PLAIN

    def _heard(self, turn: Turn) -> tuple[float, float]:
        """Give how probable a wish to be forgotten is, and from which probability on it is asked about."""
        vector = self.vector(turn.question, turn.vectors or TurnVectors())
        least: float = self.model.about["asks_from"]["grams" if vector is None else "full"]
        return self.model.shares(turn.question, vector)[Wish.ERASE], least

    def _asked(self, language: str, options: tuple[str, ...] = OPTIONS) -> Reply:
        return Reply(self.texts.say(language, "rights_doubt"), ReplyStatus.RIGHTS, language, options=options)

    def _decided(self, turn: Turn) -> Reply | None:
        """Take the message for the answer to our question whether to forget, when that was the last thing said."""
        if not turn.past or not asks_to_forget(turn.past[0].options):
            return None
        recognised = self.wishes.recognise(turn.question, turn.past[0].language, (Wish.CONFIRM, Wish.YES, Wish.DECLINE))
        if recognised is None:
            return None
        wish, language = recognised
        if wish is Wish.CONFIRM or (wish is Wish.YES and turn.past[0].options == OPTIONS):
            return self._erased(language)
        if wish is Wish.YES:
            return self._asked(language, GUESSED)
        return Reply(self.texts.say(language, "rights_kept"), ReplyStatus.RIGHTS, language)

    def _erased(self, language: str) -> Reply:
        return Reply(self.texts.say(language, "rights_erased"), ReplyStatus.RIGHTS, language, act=Act.ERASE)

    def _listed(self, known: Known, language: str) -> str:
        lasting = {"hours": str(ADDRESS_HOURS), "days": str(TEXT_DAYS), "figure_days": str(FIGURE_DAYS)}
        memory = self.texts.say(language, "rights_memory_on" if known.memory else "rights_memory_off")
        if known.first_on is None or known.last_on is None:
            return self.texts.say(language, "rights_nothing", memory=memory, **lasting)
        return self.texts.say(
            language,
            "rights_known",
            messages=str(known.messages),
            texts=str(known.texts),
            first=shown_date(known.first_on.isoformat(), language),
            last=shown_date(known.last_on.isoformat(), language),
            languages=", ".join(known.languages),
            ratings=str(known.ratings),
            memory=memory,
            **lasting,
        )


# The spans that an operator sees, in days.
SPANS: Final = (7, 30)


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
