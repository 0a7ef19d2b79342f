"""The served languages, for tests that hold for each of them."""

from clara.language.packs import read_languages
from clara.settings import resources

SCRIPTS = {code: language.script for code, language in read_languages(resources() / "data").items()}
LANGUAGES = tuple(SCRIPTS)
# The languages with typical questions and with examples of danger; the others are understood by phrases, by the letters that
# they share with these, and by the embedding.
TAUGHT = ("es", "en", "fr", "ar", "ro", "pt", "ca", "zh", "uk", "ru")
