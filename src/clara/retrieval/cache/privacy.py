"""Telling whether a text may say who somebody is, so that nothing of it is remembered."""

import re
import unicodedata

_NAMED = (
    r"me llamo|mi nombre es|se llama|my name is|his name is|her name is|je m['’ ]?appelle|mon nom est|s['’ ]?appelle"
    r"|em dic|el meu nom [eé]s|me chamo|o meu nome [eé]|meu nome [eé]|m[aă] numesc|m[aă] cheam[aă]|numele meu"
    r"|اسمي|меня зовут|мо[её] имя|мене звати|мене звуть|моє ім['’ʼ]?я"
)
_PRESENTED = r"soy|i am|i['’]m|this is|je suis|s[oó]c|sou|sunt|я|أنا"
_BORN = (
    r"naci(?:da|do|miento)?|nací|nació|born|birth|née?|naissance|nascud[ao]|naixement|nasci|nascid[ao]|nascimento"
    r"|n[aă]scut[aă]?|родил\w*|рожд\w*|народ\w*|ولدت|ولد|مواليد|ميلاد"
)
_STREET = (
    r"calle|c/|avenida|avda|plaza|paseo|street|road|avenue|rue|carrer|pla[cç]a|rua|strada|bulevardul"
    r"|улиц\w*|ул\.|вулиц\w*|вул\.|شارع"
)
_CASE = (
    r"expediente|exp\.|referencia|dossier|r[eé]f[eé]rence|case|file|reference|expedient|processo|dosar\w*|дел[оа]|справ\w*|ملف"
)


# Everything errs towards yes: a wrong yes costs one search, a wrong no would remember a person.
def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_SAID = _any_of(
    r"@|\barroba\b",  # an e-mail address or a user's name
    rf"\b(?:{_NAMED})\b",
    r"我叫|我的名字|名叫|我姓",
)
_NUMBERED = _any_of(
    r"\d{6}",  # the number of an identity card, telephone or file
    r"(?:\d[ .\-()]*){7}",  # the same with gaps
    r"\b[a-z]{1,4}[ -]?\d{5}",  # passports of most countries
    r"\b(?=[a-z]*\d)(?=(?:[a-z]*\d){4})[a-z\d]{7,}\b",  # letters and digits mixed
    r"\b[a-z]{2}\d{2}(?:[ -]?[a-z\d]{4}){3}",  # IBAN, ISO 13616
    r"\b\d{1,2}[ ./-]+\d{1,2}[ ./-]+(?:\d{4}|\d{2})\b",  # a day
    r"\b(?:19|20)\d{2}[ ./-]\d{1,2}[ ./-]\d{1,2}\b",
    r"\b\d{1,2}(?:st|nd|rd|th|er|º|ª)?\.?\s+(?:(?:de|d['’])\s*)?[^\W\d_]{3,}\.?,?\s+(?:de[l]?\s+)?(?:19|20)\d{2}\b",
    r"\b[^\W\d_]{3,}\s+\d{1,2}(?:st|nd|rd|th)?,?\s+(?:19|20)\d{2}\b",
    r"\d{1,4}\s*年\s*\d{1,2}\s*月",
    rf"\b(?:{_BORN})\b\D{{0,25}}\d{{2}}",
    r"\d{4}\s*年?\s*出生|出生\D{0,8}\d{2}",
    rf"(?:\b(?:{_STREET}))(?!\w)\D{{0,40}}\d",
    rf"\b(?:{_CASE})(?!\w)\D{{0,20}}\d{{3}}",
)
_DIGIT = re.compile(r"\d")
# Two words with a capital after "I am" are a name; in Arabic script there are no capitals, and every "I am" bypasses.
_PRESENTS = re.compile(rf"\b(?i:{_PRESENTED})\s+(?:[^\W\d_a-zа-яіїєґ][^\W\d_]+\s+){{1,3}}[^\W\d_a-zа-яіїєґ][^\W\d_]+")


def holds_personal_data(text: str) -> bool:
    """Whether a text seems to hold an address, a telephone or identity number, a date of birth or a person's name.

    Known in ten languages; it errs towards yes.
    """
    plain = "".join(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign) != "Cf")
    if _SAID.search(plain) or _PRESENTS.search(plain):
        return True
    # Most questions have no digit, and the many patterns with one are then spared.
    return bool(_DIGIT.search(plain) and _NUMBERED.search(plain))
