"""The served languages, for tests that hold for each of them."""

from clara.language.packs import read_languages
from clara.settings import resources

SCRIPTS = {code: language.script for code, language in read_languages(resources() / "data").items()}
LANGUAGES = tuple(SCRIPTS)
