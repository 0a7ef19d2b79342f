"""The few words, by language, that decide whether two questions are the same one.

Kept small on purpose: a word that is missing here costs a hit, a word too many costs a wrong answer. Possession, relation,
number, negation and prepositions are never neutral. Words are in small letters.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """What is known of a language.

    `courtesy` matches what may be left out before words are told apart. `articles` are neutral words, with their accents.
    `asking` are the question words; those in it without accents are known without them too. `negations` mean something
    else with a stop behind them. `joints` open a phrase that may stand first or last without another meaning.
    """

    courtesy: re.Pattern[str]
    articles: frozenset[str]
    asking: frozenset[str]
    negations: frozenset[str]
    joints: frozenset[str]


def _words(courtesy: str, articles: str, asking: str, negations: str, joints: str) -> Words:
    return Words(
        re.compile(courtesy, re.IGNORECASE),
        *(frozenset(words.split()) for words in (articles, asking, negations, joints)),
    )


NO_WORDS = _words(r"(?!)", "", "", "", "")

WORDS = {
    "es": _words(
        r"\b(?:hola|buenos d[ií]as|buenas (?:tardes|noches)|por favor|(?:muchas )?gracias)\b",
        "el la los las un una unos unas",
        "que como cuando donde adonde cuanto cuanta cuantos cuantas quien quienes cual cuales",
        "no ni nunca jamás tampoco sin",
        "para si en",
    ),
    "en": _words(
        r"\b(?:hi|hello|good (?:morning|afternoon|evening)|please|thanks|thank you)\b",
        "the a an",
        "what how when where who whom whose which why",
        "no not never neither nor without cannot t",
        "for if in",
    ),
    "fr": _words(
        r"\b(?:bonjour|bonsoir|salut|s['’ ]il (?:vous|te) pla[iî]t|merci(?: beaucoup)?)\b",
        "le la les l un une",
        "que quoi comment quand où combien qui quel quelle quels quelles pourquoi",
        "ne n pas non ni jamais sans",
        "pour si",
    ),
    "ca": _words(
        r"\b(?:hola|bon dia|bona (?:tarda|nit)|si us plau|(?:moltes )?gr[aà]cies)\b",
        "el la els les l un una uns unes",
        "que com quan on quant quanta quants quantes qui quin quina quins quines",
        "no ni mai tampoc sense",
        "per si en",
    ),
    "pt": _words(
        r"\b(?:ol[aá]|oi|bom dia|boa (?:tarde|noite)|por favor|(?:muito )?obrigad[oa])\b",
        "o a os as um uma",
        "que como quando onde quanto quanta quantos quantas quem qual quais",
        "não nao nem nunca jamais sem",
        "para se em",
    ),
    "ro": _words(
        r"\b(?:salut|bun[aă](?: (?:ziua|seara|diminea[tțţ]a))?|[vt][aă] rog|mul[tțţ]umesc)\b",
        "un o niște niste",
        "ce cum cand unde cat cata cati cate cine care",
        "nu nici niciodată fără fara",
        "pentru dacă daca în in",
    ),
    "ar": _words(
        r"\b(?:مرحبا|[أا]هلا|السلام عليكم|صباح الخير|مساء الخير|من فضلك|لو سمحت|شكرا)\b",
        "",
        "ما ماذا كيف متى أين اين كم من لماذا هل أي",
        "لا لم لن ليس ليست بدون غير",
        "إذا اذا في",
    ),
    "ru": _words(
        r"\b(?:здравствуйте|привет|добр(?:ый (?:день|вечер)|ое утро)|пожалуйста|спасибо)\b",
        "",
        "что как когда где куда сколько кто какой какая какое какие почему",
        "не ни нет без никогда",
        "для если в",
    ),
    "uk": _words(
        r"\b(?:вітаю|привіт|добрий (?:день|вечір)|доброго (?:дня|ранку)|будь ласка|дякую)\b",
        "",
        "що як коли де куди скільки хто який яка яке які чому",
        "не ні ані немає без ніколи",
        "для якщо в у",
    ),
    # 请问 is courtesy only where a sentence begins: it is a part of 申请问题. There are no spaces, so characters are compared
    # one by one and no phrase may move: 能带我妈妈 is to bring my mother, 妈妈能带我 is to be brought by her.
    "zh": _words(
        r"(?:^|(?<=[，。！？,.!?\s]))(?:[你您]好|请问)+|谢谢[你您]?(?=\s*(?:$|[，。！？,.!?]))", "", "", "不 没 无 非 未 别", ""
    ),
}
