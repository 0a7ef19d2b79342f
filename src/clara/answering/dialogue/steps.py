"""The steps that know the conversation: choosing, commands, corrections, follow-ups. Pure; each gives a turn or a reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from clara.answering.dialogue.choices import Choosing
from clara.answering.dialogue.commands import LANGUAGE, Commands
from clara.answering.dialogue.correction import Correcting, Nearest
from clara.answering.dialogue.follow_ups import Following, last_subject, recent
from clara.answering.dialogue.menu import Menu
from clara.answering.dialogue.message_parts import MOST_PARTS
from clara.answering.message import MAX_REPLY, Citation, Past, Reply, ReplyStatus, Turn
from clara.answering.texts import Texts
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing
from clara.knowledge.keyword_tier import NamedProcedures
from clara.knowledge.places import STATE, Place, Places
from clara.knowledge.procedure import Procedure
from clara.retrieval.passage import Hit

# More procedures than this are no help to somebody who was just misunderstood.
MOST_OPTIONS: Final = 4
# A chosen procedure is asked about in the words of the earlier question, of which so many characters say enough.
MOST_REPEATED: Final = 300

HUMAN: Final = "human"
MENU: Final = "menu"
GREETING: Final = "greeting"
# The commands that an option may be.
COMMANDS: Final = frozenset({HUMAN, MENU, GREETING, "help"})


@dataclass(frozen=True, slots=True)
class Listing:
    """Says numbered lists of procedures, and remembers what the numbers stand for."""

    texts: Texts
    names: Mapping[str, Mapping[str, str]]
    menu: Menu

    def offers(self, option: str) -> bool:
        """Whether an option is a procedure, a topic of the menu or a command."""
        return option in self.names or option in self.menu.topics or option in COMMANDS

    def called(self, option: str, language: str) -> str:
        """Give what an option is called in a list; other steps' options have no name there."""
        if option in self.names:
            return self.names[option][language]
        if option in self.menu.topics:
            return self.texts.say(language, option)
        return self.texts.by_language[language].commands[option][0] if option in COMMANDS else ""  # as a person writes it

    def reply(self, name: str, options: Sequence[str], language: str, status: ReplyStatus) -> Reply:
        """Give the fixed text `name` around the numbered options."""
        listed = "\n".join(f"{number}. {self.called(option, language)}" for number, option in enumerate(options, 1))
        return Reply(self.texts.say(language, name, procedures=listed), status, language, options=tuple(options))


@dataclass(frozen=True, slots=True)
class Reaching:
    """Says how to reach a person, as far as the facts know it. `contact` is the operator's own, from the settings."""

    framing: Framing
    procedures: Mapping[str, Procedure]
    places: Places
    contact: str | None

    def people(self, language: str) -> str:
        """Say who helps in person, whatever the matter."""
        return self.framing.texts.say(
            language, "human_contact" if self.contact else "human_default", contact=self.contact or ""
        )

    def ways(self, document: str | None, place: Place | None, language: str, room: int) -> tuple[str, tuple[Citation, ...]]:
        """Give the text, of `room` characters at most, and the evidence of its contact facts.

        These are the ones that hold where the person lives, or everywhere when that is not known.
        """
        say = self.framing.texts.say
        said = say(language, "human", human=self.people(language))
        if document is None or document not in self.procedures:
            return said, ()
        procedure = self.procedures[document]
        who = say(language, "human_procedure", procedure=procedure.name[language], authority=procedure.authority)
        said = f"{said}\n\n{who}"
        around = self.places.around(place.code) if place else [STATE]
        contacts = self.framing.contacts_of(document)
        hits = [Hit(passage, 1.0) for passage in contacts if passage.territory in around]
        facts, citations = ExtractiveWriter(self.framing).write(hits, language, room - len(said) - 2)
        return (f"{said}\n\n{facts}", citations) if facts and len(said) + 2 + len(facts) <= room else (said, ())


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What the steps of a conversation share. A message without a past, or with an old one, passes as it is."""

    listing: Listing
    commands: Commands
    choosing: Choosing
    correcting: Correcting
    following: Following
    reaching: Reaching
    named: NamedProcedures
    places: Places
    nearest: Nearest

    def choose(self, turn: Turn) -> Turn | Reply:
        """Take numbers, "the second", names, "all" or "none" for the options of the last reply; a wrong number: them again."""
        choice = self.choosing.choose(turn.question, turn.past, turn.language)
        if choice is None and self.choosing.unlisted(turn.question, turn.past, turn.language):
            return self._said(turn, "no_list")
        if choice is None or not all(map(self.listing.offers, choice.offered.options)):
            return turn  # what other steps offer, they understand themselves
        if choice.declined:
            return self._said(turn, "none_of_these")
        procedures = [option for option in choice.chosen if option in self.listing.names]
        if len(procedures) > 1:
            parts = {option: self._about(option, choice.offered, turn) for option in procedures[:MOST_PARTS]}
            return replace(turn, asked=parts[procedures[0]], parts=parts, understood=True)
        if len(choice.chosen) != 1:
            return self.listing.reply("choose_again", choice.offered.options, turn.language, ReplyStatus.CLARIFIED)
        return self._chosen(choice.chosen[0], choice.offered, turn)

    def obey(self, turn: Turn) -> Turn | Reply:
        """Answer greetings, thanks, help, the menu and the wish to talk to a person."""
        if turn.understood:
            return turn
        recognised = self.commands.recognise(turn.question, turn.language)
        if recognised is not None:
            command, language = recognised
            if command == LANGUAGE and self.named.find(turn.question):
                return turn  # "¿el examen de la nacionalidad se puede hacer en catalán?"
            return self._again(turn, language) if command == LANGUAGE else self._obeyed(turn, command, language)
        wished = self.commands.leading(turn.question, turn.language)
        if wished is None:
            return turn
        _, language, beside = wished
        only_names = self.following.read(beside, "es").own <= sum(self.named.find(beside).values())
        return self._obeyed(turn, HUMAN, language) if only_names else turn

    def correct(self, turn: Turn) -> Turn | Reply:
        """Look again after a correction, with what it says; or ask which other procedure was meant."""
        correction = None if turn.understood else self.correcting.correct(self._plain(turn), turn.past, turn.language)
        if correction is None:
            return turn
        if correction.asked:
            return replace(turn, asked=correction.asked, understood=True, corrected=True, apart=correction.apart)
        before = self.correcting.asked_before(turn.past, turn.language)
        text = before.question if before is not None else turn.question
        refused = {earlier.document_id for earlier in recent(turn.past)}.union(
            *(earlier.options for earlier in recent(turn.past))
        )
        likely = [name for name in self.nearest(text) if name in self.listing.names and name != correction.apart]
        others = [name for name in likely if name not in refused] or likely
        return self.listing.reply("which_instead", others[:MOST_OPTIONS], turn.language, ReplyStatus.CLARIFIED)

    def follow_up(self, turn: Turn) -> Turn:
        """Make of a message that hangs on the last turns a question that stands alone."""
        if turn.understood:
            return turn
        plain = self.commands.uncourteous(turn.asked, turn.asked_in)
        asked = self.following.resolve(plain, turn.past, turn.asked_in)
        return turn if asked == plain else replace(turn, asked=asked, understood=True)

    def wished(self, past: Sequence[Past]) -> str:
        """Give the language in which the person lately asked to be answered; "" for none."""
        return next((earlier.language for earlier in recent(past) if self._wishes(earlier)), "")

    def running(self, turn: Turn) -> str:
        """Give the procedure that is spoken of, unless the message itself names one; "" for none.

        What names its matter is looked for alike whatever was said before, so that its result is remembered for everybody. Who
        was just told whom to call goes on about her danger. What found nothing leaves the subject as it was.
        """
        if self.named.find(turn.asked):
            return ""
        last = next(iter(recent(turn.past)), None)
        if last and last.status is ReplyStatus.URGENT:
            helping = (one.id for kind in last.danger for one in self.reaching.procedures.values() if kind in one.dangers)
            return next(helping, "")
        return next((earlier.document_id for earlier in recent(turn.past) if earlier.document_id), "")

    def _plain(self, turn: Turn) -> str:
        return self.commands.uncourteous(turn.question, turn.language)

    def _again(self, turn: Turn, language: str) -> Turn | Reply:
        """Ask again what was asked last, to be answered in this language; greet in it where nothing was."""
        last = last_subject([earlier for earlier in turn.past if not self._wishes(earlier)])
        if last is None:
            return self._obeyed(turn, GREETING, language)
        older = turn.past[turn.past.index(last) + 1 :]
        if last.document_id and self.choosing.places(last.question, last.language):
            return replace(turn, asked=self.listing.names[last.document_id][language], language=language, understood=True)
        return replace(turn, asked=last.question, past=older, language=language, written=last.language)

    def _wishes(self, earlier: Past) -> bool:
        """Whether an earlier message asked for nothing but another language."""
        return (self.commands.recognise(earlier.question, earlier.language) or ("",))[0] == LANGUAGE

    def _obeyed(self, turn: Turn, command: str, language: str) -> Reply:
        if turn.first_contact and command == GREETING:
            command = MENU  # the notice of the first contact is the greeting
        trace = {"command": command}
        if command == MENU:
            return self._listed(self.listing.menu.options, language)
        if command == HUMAN:
            document, place = self._matter(turn)
            text, citations = self.reaching.ways(document, place, language, MAX_REPLY)
            return Reply(text, ReplyStatus.COMMAND, language, citations=citations, trace=trace)
        human = self.reaching.people(language)
        said = self.listing.texts.say(language, command, human=human).strip()
        return Reply(said, ReplyStatus.COMMAND, language, trace=trace)

    def _listed(self, options: Sequence[str], language: str) -> Reply:
        return replace(self.listing.reply(MENU, options, language, ReplyStatus.COMMAND), trace={"command": MENU})

    def _matter(self, turn: Turn) -> tuple[str | None, Place | None]:
        """Give the procedure and the place that a wish for a person is about: its own, or those spoken of."""
        named = self.named.find(turn.question)
        spoken_of = next((earlier.document_id for earlier in recent(turn.past) if earlier.document_id), None)
        document = max(named, key=named.__getitem__) if named else spoken_of
        texts = [turn.question, *(earlier.question for earlier in recent(turn.past) if earlier.document_id == document)]
        found = (self.places.territory_of(text) for text in texts)
        return document, next((place for place in found if place is not None), None)

    def _chosen(self, option: str, offered: Past, turn: Turn) -> Turn | Reply:
        """Do what one option stands for: obey a command, open a topic, or ask about a procedure."""
        if option in COMMANDS:
            return self._obeyed(turn, option, turn.language)
        if option in self.listing.menu.topics:
            return self._listed(self.listing.menu.topics[option], turn.language)
        return replace(turn, asked=self._about(option, offered, turn), understood=True)

    def _said(self, turn: Turn, name: str) -> Reply:
        """Say a fixed text, with how to reach a person."""
        said = self.listing.texts.say(turn.language, name, human=self.reaching.people(turn.language))
        return Reply(said.strip(), ReplyStatus.COMMAND, turn.language)

    def _about(self, option: str, offered: Past, turn: Turn) -> str:
        """Ask about a chosen procedure what was asked before it had to be chosen; after a menu nothing was."""
        name = self.listing.names[option][turn.language]
        if offered.status is ReplyStatus.COMMAND:
            return name
        since = next(place for place, earlier in enumerate(turn.past) if earlier is offered)
        before = self.correcting.asked_before(turn.past[since:], turn.language)
        if before is None or before.status is ReplyStatus.COMMAND:
            return name
        if self.named.find(before.question).keys() - {option}:
            said = " ".join(self.following.asks_of(before.question, before.language))
        else:
            said = before.question[:MOST_REPEATED]
        return f"{name}: {said}" if said else name
