"""Danger in a conversation: what is heard now, what was heard before, one gentle question, and help above any other reply."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from clara.conversation.dialogue.following import recent
from clara.conversation.message import Past, Reply, ReplyStatus, Turn
from clara.conversation.people.wishes import Wish, Wishes
from clara.conversation.safety.danger import Alarm, Danger, Kind, Level
from clara.conversation.texts import Texts
from clara.retrieval.classifier import VectorOf, by_letters
from clara.retrieval.turn_vectors import TurnVectors

# So many hints in a row are as good as being told; one fewer is worth a question.
HINTS: Final = 3
# What the gentle question offers, as a reply's options.
IN_DANGER, SAFE = "in_danger", "safe"
OPTIONS: Final = (IN_DANGER, SAFE)


@dataclass(frozen=True, slots=True)
class Guard:
    """Watches over a conversation. Earlier messages are read again by their letters: nothing is kept of what was heard."""

    danger: Danger
    wishes: Wishes
    texts: Texts
    vector: VectorOf = by_letters

    def watch(self, turn: Turn, wishes: Callable[[Turn], bool] = lambda _turn: False) -> Turn | Reply:
        """Answer somebody who is surely in danger at once; let everybody else pass, with what was heard.

        `wishes` tells who wants something of Clara that must be heard as well: then help stands above its answer.
        """
        past = recent(turn.past)
        if past and past[0].options == OPTIONS and (answered := self._answered(turn, past)):
            return answered
        text = turn.question or turn.message.text or ""
        whole = turn.message.text if turn.shortened and turn.message.text else text  # what is cut off may be the cry for help
        alarm = self.danger.phrased(whole)
        if alarm.level is not Level.SURE:
            alarm = self._with(past, text, self.danger.hear(whole, self.vector(text, turn.vectors or TurnVectors())))
        if alarm.level is Level.SURE and not wishes(turn):
            return self._urgent(alarm, turn.language)
        return replace(turn, alarm=Alarm(min(alarm.level, Level.LIKELY), alarm.kinds))

    def above(self, turn: Turn, language: str) -> str:
        """Say whom to call, for above a reply to somebody who is likely in danger."""
        return f"{self.danger.lines(turn.alarm.kinds, language)}\n\n" if turn.alarm.raised else ""

    def asks(self, turn: Turn) -> bool:
        """Whether the gentle question is due: a hint in a conversation, if it was not asked in what is remembered."""
        past = recent(turn.past)
        return turn.alarm.level is Level.HINT and bool(past) and not any(earlier.options for earlier in past)

    @staticmethod
    def trace(alarm: Alarm) -> dict[str, Any]:
        """Give what is kept of an alarm, with the reply, as long as its text."""
        return {"danger": [kind.value for kind in alarm.kinds], "level": alarm.level.name.lower()} if alarm.raised else {}

    def _with(self, past: list[Past], text: str, now: Alarm) -> Alarm:
        """Add what was said before: who was in danger a message ago still may be, hints add up, and so do parts of a story.

        Of 68 messages of conversations in danger that call for help, 14 were missed without the joined text, 10 with it.
        """
        if not past or now.level is Level.SURE:
            return now
        last = past[: HINTS - 1]
        before = [self.danger.hear(earlier.question) for earlier in last]
        # What was told stays what it was, until a message surely tells of something else.
        kinds = tuple(dict.fromkeys(kind for alarm in (*before, now) for kind in alarm.kinds))
        if any(earlier.status is ReplyStatus.URGENT for earlier in last):
            return Alarm(Level.LIKELY, kinds or (Kind.EMERGENCY,))
        if now.raised:
            return now
        joined = self.danger.hear("\n".join([*(earlier.question for earlier in reversed(last)), text]))
        if joined.raised:
            return Alarm(Level.LIKELY, joined.kinds)
        hinted = sum(alarm.level >= Level.HINT for alarm in (now, *before))
        if now.level and hinted >= HINTS:
            return Alarm(Level.LIKELY, kinds)
        return max(now, joined, key=lambda alarm: alarm.level)

    def _answered(self, turn: Turn, past: list[Past]) -> Reply | None:
        """Take the message for the answer to the gentle question."""
        recognised = self.wishes.recognise(turn.question, past[0].language, (Wish.YES, Wish.DECLINE))
        if recognised is None:
            return None
        wish, language = recognised
        if wish is Wish.DECLINE:
            return Reply(self.texts.say(language, "danger_declined"), ReplyStatus.CALMED, language)
        heard = (self.danger.hear(earlier.question) for earlier in past)
        kinds = tuple(dict.fromkeys(kind for alarm in heard for kind in alarm.kinds))
        return self._urgent(Alarm(Level.SURE, kinds or (Kind.EMERGENCY,)), language)

    def _urgent(self, alarm: Alarm, language: str) -> Reply:
        said = self.danger.reply(alarm.kinds, language)
        return Reply(said, ReplyStatus.URGENT, language, trace=self.trace(alarm))
