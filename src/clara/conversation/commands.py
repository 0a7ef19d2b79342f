"""Whole messages that are commands: greeting, help, menu, thanks, goodbye, a person."""

from collections.abc import Mapping

from clara.conversation.texts import LANGUAGES, Texts
from clara.retrieval.vocabulary import words


class Commands:
    """Recognises a command in any served language."""

    def __init__(self, texts: Texts) -> None:
        self._by_language: Mapping[str, Mapping[tuple[str, ...], str]] = {
            language: {tuple(words(phrase)): command for command, phrases in spoken.commands.items() for phrase in phrases}
            for language, spoken in texts.by_language.items()
        }

    def recognise(self, text: str, preferred: str) -> tuple[str, str] | None:
        """Give (command, language) when the whole message is a command; the preferred language wins where several share it."""
        said = tuple(words(text))
        for language in dict.fromkeys((preferred, *LANGUAGES)):
            if command := self._by_language[language].get(said):
                return command, language
        return None
