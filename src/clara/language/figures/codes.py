"""Figures alike in every language: addresses, norms, articles, forms, dates in digits, times, phones; Chinese dates."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from clara.language.figures.figure import Figure, FigureKind, FigureText
from clara.language.figures.lexicon import Lexicon, chinese
from clara.language.tokens import ALPHANUMERIC

_NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_DATE = re.compile(
    rf"(?:(?P<year>(?:19|20)\d{{2}}|[一二〇零三四五六七八九]{{4}})\s*年\s*)?(?<![个個\d一二三四五六七八九十])"
    rf"(?P<month>{_NUMBER})\s*月(?!内)(?:\s*(?P<day>{_NUMBER})\s*[日号號]"
    rf"(?:\s*[至到和、-]+\s*(?P<last>{_NUMBER})\s*[日号號])?)?"
)
_CHINESE_YEAR = re.compile(r"(?P<year>(?:19|20)\d{2}|二[〇零][一二〇零三四五六七八九]{2})\s*年")
_MONTHS, _DAYS = range(1, 13), range(1, 32)


def read_chinese_dates(page: FigureText) -> None:
    """Read dates, months and years in Chinese."""
    for match in page.matches(_DATE):
        month = int(chinese(match["month"]))
        year = f"{chinese(match['year']):.0f}" if match["year"] else None
        days = [int(chinese(match[name])) for name in ("day", "last") if match[name]]
        if month not in _MONTHS or any(day not in _DAYS for day in days):
            continue
        if not days:
            page.add(*match.span(), [Figure(FigureKind.DATE, f"{year}-{month:02d}" if year else f"--{month:02d}")])
            continue
        spans = [(match.start(), match.end("day")), (match.end("day"), match.end())]
        for (start, end), day in zip(spans, days, strict=False):
            page.add(start, end, [Figure(FigureKind.DATE, f"{year or '-'}-{month:02d}-{day:02d}")])
        page.hide(*match.span())
    page.read(_CHINESE_YEAR, FigureKind.DATE, lambda match: f"{chinese(match['year']):.0f}")


# A letter or digit that would make one word with what follows; Chinese writes without blanks.
_LETTER = rf"(?:{ALPHANUMERIC}|_)"
_ALONE, _END = rf"(?<!{_LETTER})", rf"(?!{_LETTER})"

_LINK = re.compile(r"(?:https?|hxxps?|ftp)://[^\s\0«»“”\"<>]+", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# The endings of addresses that a reply may hold, and those that are used to lead people astray.
_SITE = re.compile(
    r"(?<![\w@.])(?<![\w-]-)(?:[a-z0-9-]+\.)+"
    r"(?:es|cat|eus|gal|eu|org|com|net|info|int|gob|io|ly|me|co|app|xyz|ru|ua|cn|fr|pt|ro|uk|us|tk|top|site|online|link|biz|dev)"
    r"(?:/[^\s\0,;)]*)?(?![\w@])",
    re.IGNORECASE,
)
_AFTER_ADDRESS = ").]},;:!?…*'_"


def addresses(page: FigureText, _lexicon: Lexicon) -> None:
    """Read links, e-mail addresses and bare hosts."""
    for kind, pattern in ((FigureKind.URL, _LINK), (FigureKind.EMAIL, _EMAIL), (FigureKind.URL, _SITE)):
        for match in page.matches(pattern, cased=True) if "." in page.rest else ():
            address = match[0].rstrip(_AFTER_ADDRESS)
            ending = address.partition("/")[0].rsplit(".", 1)[-1]
            # "mes.Es" is no host, but the end of a sentence and the beginning of the next.
            if pattern is not _SITE or ending.islower() or address.isupper():
                page.add(match.start(), match.start() + len(address), [Figure(kind, address)])


_YEAR = r"(?:19|20)\d{2}"
_GAZETTE = re.compile(rf"{_ALONE}boe-[a-z]-\d{{4}}-\d{{1,6}}(?!\d)")
_EUROPEAN = re.compile(rf"{_ALONE}(?<![/-]){_YEAR}/\d{{1,4}}/(?:ue|eu|cee|ce|ec|es|єс|ес){_END}")
_NUMBERED = re.compile(
    rf"{_ALONE}(?<![/-])(?:[a-z]{{2,4}}/)?(?:\d{{1,4}}/{_YEAR}|{_YEAR}/\d{{1,4}})(?:/(?:ue|eu|ce|ec))?{_END}(?![/-])"
)
_SCHOOL_YEARS = re.compile(rf"{_ALONE}(?<![/-])({_YEAR})\s?[-/]\s?({_YEAR}|\d{{2}}){_END}(?![/-])")
_MONTH_OF_YEAR = re.compile(rf"(0?[1-9]|1[0-2])/({_YEAR})$")
# Between the name of a norm and its number: "(UE)", "n.º", "del Parlamento" is not.
_BEFORE_NUMBER = r"[\s(]*(?:(?:ue|ce|eu|ec|es|єс|ес|sem|ism|dgm|dggm)\)?\s*)?(?:(?<!\w)(?:n\.?\s?o?\.?|no\.?|№)\s*)?$"


def norms(page: FigureText, lexicon: Lexicon) -> None:
    """Read norms with their kind, as far as it is told; the unit of the figure is the kind, None when it is not."""
    page.read(_GAZETTE, FigureKind.NORM, lambda match: match[0].upper())
    for match in (*page.matches(_EUROPEAN), *page.matches(_NUMBERED)):
        if page.rest[match.start()] == "\0":
            continue
        number = re.sub(r"/(?:ue|eu|cee|ce|ec|es|єс|ес)$", "", match[0]).upper()
        kind, start = _kind_of_norm(page.rest, match.start(), match.end(), lexicon)
        named = Figure(FigureKind.NORM, _named(page.written(start, match.end())))
        years = _SCHOOL_YEARS.fullmatch(match[0])
        if kind is None and years and _follow(years[1], years[2]):
            continue
        readings = [Figure(FigureKind.NORM, number, kind)]
        if kind is None and (month := _MONTH_OF_YEAR.fullmatch(number)):
            readings.append(Figure(FigureKind.DATE, f"{month[2]}-{int(month[1]):02d}"))
        page.add(match.start(), match.end(), readings, values=(named,))


# How facts write the name of a norm in full.
_SHORT_NAMES: Final = {
    "LO ": "Ley Orgánica ",
    "RDLeg ": "Real Decreto Legislativo ",
    "RDL ": "Real Decreto-ley ",
    "RD-ley ": "Real Decreto-ley ",
    "RD ": "Real Decreto ",
}


def _named(written: str) -> str:
    name = " ".join(re.sub(r"n\.?º ?", "", written).split())
    short = next((short for short in _SHORT_NAMES if name.startswith(short)), "")
    return _SHORT_NAMES.get(short, "") + name.removeprefix(short)


def _follow(first: str, second: str) -> bool:
    """Whether two years are the beginning and the end of a span: 2026-2027, 2026/27."""
    return int(first) < int(first[: -len(second)] + second) <= int(first) + 20


def _kind_of_norm(text: str, start: int, end: int, lexicon: Lexicon) -> tuple[str | None, int]:
    before = text[max(0, start - 60) : start]
    head = re.sub(_BEFORE_NUMBER, "", before).rstrip(" -")
    for wording, kind in lexicon.norms.items():
        if head.endswith(wording) and not head[: -len(wording)][-1:].isalpha():
            return kind, start - len(before) + len(head) - len(wording)
    if lexicon.language == "zh":
        behind = re.match(r"\s*号?\s*(.{0,12})", text[end:], re.DOTALL)
        found = next((kind for wording, kind in lexicon.norms.items() if behind and behind[1].startswith(wording)), None)
        whole = next((kind for wording, kind in lexicon.norms.items() if head.rstrip("第 ").endswith(wording)), None)
        return found or whole, start
    return None, start


_ARTICLE = r"(?:1\d{3}|\d{1,3})(?!\d)(?:\.\d{1,2}(?!\d))*(?:\.[a-z](?![a-z]))?(?: (?:bis|ter|quater))?"
# The short form only in capitals: "da 600 €" is a verb.
_DISPOSITION = re.compile(rf"{_ALONE}(D[ATF]) ?(\d{{1,3}})(?!\d)")
_CHINESE_ARTICLE = re.compile(r"第\s*(\d{1,3}(?:\.\d{1,2})*)\s*(?:条|條)(?:\s*第\s*(\d{1,2})\s*款)?")


# More articles: "4, 5 y 6", but not "4, 733,60 €" nor "4 y 30 días".
_BEHIND_ARTICLE = r"(?=[;:)]|[.,](?!\d)|$| (?:de|del|of|du|des|y|e|i|et|and|\()(?!\w))"
_FURTHER = rf"(?:(?:, | a | y | e | and | et | i | si | та | и |-){_ARTICLE}{_BEHIND_ARTICLE})*"


_ORDINALS = r"\d{1,3}(?!\d)(?:\.?[ao](?!\w))?(?:(?:, | y | a | and | et | e | i | si | o )\d{1,3}\.?[ao](?!\w))*"


@lru_cache(maxsize=64)
def _provision_patterns(words: tuple[tuple[str, str], ...]) -> list[tuple[str, re.Pattern[str]]]:
    patterns: list[tuple[str, re.Pattern[str]]] = []
    for name in dict.fromkeys(name for _, name in words):
        heads = "|".join(re.escape(word) for word, kind in words if kind == name and word != "第")
        before = rf"(?<!\w)(?:{heads})\.?\s?(?:no?\.?o?\s?)?"
        if name == "art.":
            rule = rf"{before}({_ARTICLE}{_FURTHER})"
        else:
            rule = rf"{before}({_ORDINALS})|(\d{{1,3}})\W?[a-zа-яії]{{0,3}} (?:{heads})(?!\w)"
        patterns.append((name, re.compile(rule)))
    return patterns


def provisions(page: FigureText, lexicon: Lexicon) -> None:
    """Read articles and dispositions of norms."""
    page.read(_CHINESE_ARTICLE, FigureKind.PROVISION, lambda match: f"art. {'.'.join(filter(None, match.groups()))}")
    page.read(_DISPOSITION, FigureKind.PROVISION, lambda match: f"{match[1]} {match[2]}", cased=True)
    for name, pattern in _provision_patterns(tuple(lexicon.provisions.items())):
        for match in page.matches(pattern):
            group = 1 if match[1] else 2
            for number in re.finditer(_ARTICLE, match[group]):
                start = match.start(group) + number.start()
                page.add(start, start + len(number[0]), [Figure(FigureKind.PROVISION, f"{name} {number[0].rstrip('.ao')}")])


_FOREIGNERS_FORM = re.compile(rf"{_ALONE}(?:EX[- ]?\d{{2}}|TA[. -]?\d{{1,2}}(?:/\d)?){_END}", re.IGNORECASE)
# A level, a certificate, a screen of a machine: "DELE A2", "U1", "COVID-19".
_LETTERED = re.compile(rf"{_ALONE}[A-Z]{{1,6}}[-.]?\d{{1,4}}(?:[./-]\d{{1,4}})*{_END}(?![.,]\d)")


@lru_cache(maxsize=64)
def _form_patterns(words: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    heads = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    fee = rf"(?<![\d.,])790(?:\s?[-/]\s?|,?\s?\(?(?:{heads})[\s:]*|\s)(\d{{3}})(?!\d| ?\d|[.,]\d)"
    form = rf"{_ALONE}(?:{heads})\.?[\s:]{{0,2}}(?:no?\.?o? ?)?(\d{{2,3}})(?!\d|[.,]\d|\s*[€%]|\s*euro|\s?\w)"
    spaced = rf"{_ALONE}(?:{heads})[\s:]{{0,2}}(?:no?\.?o? ?)?(\d{{3}})(?!\d|[.,]\d|\s*[€%]|\s*(?:euro|евро|євро|欧|يورو))"
    return re.compile(fee), re.compile(f"{form}|{spaced}")


def forms(page: FigureText, lexicon: Lexicon) -> None:
    """Read the codes of forms and fees."""
    code = re.compile(r"^(EX|TA)[-. ]?")
    page.read(_FOREIGNERS_FORM, FigureKind.FORM, lambda match: code.sub(r"\1-", match[0].upper()), cased=True)
    fee, form = _form_patterns(lexicon.forms)
    page.read(fee, FigureKind.FORM, lambda match: f"790-{match[1]}")
    for match in page.matches(form):
        group = 1 if match[1] else 2
        further = _FURTHER_FORMS.match(page.rest, match.end())
        page.add(*match.span(group), _codes(match[group]))
        for another in re.finditer(r"\d{3}", further[0]) if further else ():
            start = match.end() + another.start()
            page.add(start, start + len(another[0]), _codes(another[0]))


# More codes: "la tasa 123 o 124 en vez de la 125".
_FURTHER_FORMS: Final = re.compile(
    r"(?:(?:, |,? (?:o|y|ni|en vez de|en lugar de) (?:(?:la|el) )?)\d{3}(?!\d|[.,]\d|\s*[€%]|\s*euro|-\d))+"
)


def _codes(written: str) -> list[Figure]:
    return [Figure(FigureKind.FORM, written), Figure(FigureKind.COUNT, float(written))]


def lettered(page: FigureText, _lexicon: Lexicon) -> None:
    """Read codes of capitals and digits."""
    for match in page.matches(_LETTERED, cased=True):
        code = re.sub(r"^([A-Z]+)[-.]?", r"\1-", match[0])
        page.add(*match.span(), [Figure(FigureKind.FORM, code)], values=(Figure(FigureKind.FORM, match[0]),))


_YEAR_FIRST = re.compile(rf"{_ALONE}(?<![/-])(\d{{4}})[-/.](1[0-2]|0?[1-9])[-/.](3[01]|[12]\d|0?[1-9]){_END}(?![/-]|\.\d)")
_DAY_FIRST = re.compile(rf"{_ALONE}(?<![./-])(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){_END}(?![/-]|\.\d)")
_INITIAL = re.compile(rf"{_ALONE}(?<!-)(3[01]|[12]\d|[1-9])-([EFMAJSOND]){_END}(?!-)")
_INITIALS: Mapping[str, tuple[int, ...]] = {
    "E": (1,), "F": (2,), "M": (3, 5), "A": (4, 8), "J": (6, 7), "S": (9,), "O": (10,), "N": (11,), "D": (12,),
}  # fmt: skip
_CENTURY = "20"


def _day(year: str, month: int, day: int) -> Iterator[Figure]:
    if month in _MONTHS and day in _DAYS:
        yield Figure(FigureKind.DATE, f"{_CENTURY + year if len(year) == len(_CENTURY) else year}-{month:02d}-{day:02d}")


def dates(page: FigureText, lexicon: Lexicon) -> None:
    """Read dates in digits, spans of years, and "30-J". English may put the month first."""
    for match in page.matches(_YEAR_FIRST):
        page.add(*match.span(), _day(match[1], int(match[2]), int(match[3])))
    for match in page.matches(_DAY_FIRST):
        first, second = int(match[1]), int(match[3])
        readings = list(_day(match[4], second, first))
        if lexicon.language == "en" or not readings:
            readings += _day(match[4], first, second)
        if readings:
            page.add(*match.span(), readings)
    for match in page.matches(_INITIAL, cased=True):
        months = _INITIALS[match[2]]
        page.add(*match.span(), [Figure(FigureKind.DATE, f"--{month:02d}-{int(match[1]):02d}") for month in months])
    for match in page.matches(_SCHOOL_YEARS):
        if _follow(match[1], match[2]):
            page.add(*match.span(1), [Figure(FigureKind.DATE, match[1])])
            page.add(*match.span(2), [Figure(FigureKind.DATE, match[1][: -len(match[2])] + match[2])])


_TIME = re.compile(
    r"(?<![\d:.,])([01]?\d|2[0-4])(?::([0-5]\d)(?![\d:])|[.h]([0-5]\d) ?h(?!\w)|h([0-5]\d)(?!\w)|(?:点|點)([0-5]\d)?分?)"
)
_HALF_DAY = re.compile(r"(?<![\d:.,])(1[0-2]|0?\d)(?:[:.]([0-5]\d))? ?([ap])\.? ?m\b\.?")
_ALWAYS = re.compile(r"(?<![\d/])24 ?/ ?7(?![\d/])")
_NOON = 12


def times(page: FigureText, _lexicon: Lexicon) -> None:
    """Read times of day."""
    for match in page.matches(_ALWAYS):
        page.add(*match.span(), [Figure(FigureKind.PERIOD, 24.0, "hour")])
    noon = {"a": 0, "p": _NOON}
    page.read(_HALF_DAY, FigureKind.TIME, lambda match: f"{int(match[1]) % _NOON + noon[match[3]]:02d}:{match[2] or '00'}")
    page.read(_TIME, FigureKind.TIME, lambda match: f"{int(match[1]):02d}:{next(filter(None, match.groups()[1:]), '00')}")


_PHONE = re.compile(
    _ALONE + r"(?<![.,/-])(?:\(?(?:\+|00) ?34\)?[ .-]?)?(?:[6789]\d{2}(?:[ .-]?\d{3}){2}|[6789]\d{2}(?:[ .-]?\d{2}){3}"
    r"|[89]\d(?:[ .-]?\d{3})(?:[ .-]?\d{2}){2}|116 ?\d{3})(?![.,-]?\d| ?[€%]| ?(?:eur|евро|євро|欧|يورو))" + _END
)
_FOREIGN_PHONE = re.compile(_ALONE + r"(?<![.,/-])(?:\+|00)[1-9]\d(?:[ ().-]{0,2}\d){5,13}(?!\d)")
_LONG = re.compile(_ALONE + r"(?<![.,/-])\d{9,}(?![\d.,]\d| ?[€%]| ?(?:eur|евро|євро|欧|يورو))")


def phones(page: FigureText, _lexicon: Lexicon) -> None:
    """Read phones as their digits, without the prefix of Spain. A long run of digits counts as one."""
    for pattern in (_FOREIGN_PHONE, _PHONE, _LONG):
        for match in page.matches(pattern):
            digits = re.sub(r"\D", "", match[0])
            spanish = re.sub(r"^(?:00)?34(?=\d{9}$)", "", digits)
            count = (Figure(FigureKind.COUNT, float(digits)),) if pattern is _LONG else None
            page.add(*match.span(), [Figure(FigureKind.PHONE, spanish)], values=count)


Rule = Callable[[FigureText, Lexicon], None]
RULES: Final[tuple[Rule, ...]] = (addresses, norms, provisions, forms, dates, times, phones, lettered)
