"""Identity data in ten languages: its patterns, and hiding it before a text leaves or is stored unkeyed."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from stdnum.iso7064 import mod_97_10

from clara.language.fold import compatible, spaced
from clara.language.patterns import any_of

# Numbers of offices that are no free-phone numbers; a test holds them against data/tramites.
OFFICES: Final = frozenset(
    {"600000016", "717003717", "913220189", "913220190", "932903098", "915412530", "202006155", "012184422"}
)
# Free and shared-cost prefixes of Spain belong to bodies and firms, never to a person.
OF_BODIES: Final = ("800", "900", "901", "902")

_GAP = r"[ .\-]?"
_DATE = (
    r"(?:\d{1,2} ?[./\-] ?\d{1,2} ?[./\-] ?(?:\d{4}|\d{2})|\d{4} ?[./\-] ?\d{1,2} ?[./\-] ?\d{1,2}"
    r"|\d{1,2}(?:st|nd|rd|th|er|º|ª)?\.? +(?:de +|d['’] ?|of +)?[^\W\d_]{3,12}\.?,? +(?:del? +)?\d{4}"
    r"|[^\W\d_]{3,12}\.? +\d{1,2}(?:st|nd|rd|th)?,? +\d{4}|\d{4} ?年 ?\d{1,2} ?月 ?\d{1,2} ?[日号]?)(?!\d)"
)
_BORN = (
    r"\b(?:naci|nací|nacio|nació|nacid[oa]|nacimiento|nac|born|birth|dob|née?|naissance|nascud[ao]|naixement|neixer"
    r"|vaig n[eé]ixer|nasci|nasceu"
    r"|nascid[oa]|nascimento|nacín|nacin|naceu|nacemento|n[aă]scut[aă]?|na[sș]terii|родил\w{0,4}|рожд\w{0,6}|народ\w{0,8})\b|(?:ولد|مواليد|ميلاد"
    r"|ازداد|مزداد|تزاد)\w{0,3}|出生|生于|生日"
)
_STREET = (
    r"calle|c/|avenida|avda\.?|av\.|plaza|plza\.?|paseo|pza\.?|carretera|ctra\.?|ronda|travesía|camino|callejón|carrer"
    r"|avinguda|plaça|passeig"
    r"|rue|boulevard|r[uú]a|praza|estrada|travessa|strada|str\.|bulevardul|aleea|улица|улице|ул\.|проспект\w{0,2}|вулиця|вулиці|вул\."
    r"|шоссе|شارع|زنقة|street|road|avenue"
)
# Words that never stand inside the name of a street, so that "la calle desde hace 3 años" is none.
_NO_STREET = (
    r"en|para|por|con|que|y|o|mi|hace|desde|tengo|a|hay|es|no|me|si|ya|hasta|cada|son|unos|the|for|in|since|and|with|on"
    r"|at|is|my|pour|dans|depuis|et|avec"
    r"|pentru|în|și|cu|de când|per|amb|fa|há|com|уже|на|с|и|в|від|вже|та|منذ|مع"
)
_STREET_WORD = rf"(?!(?:{_NO_STREET})\b)[^\W\d_][^\W\d_'’.\-]{{0,20}}[.'’\-]?"
_NO_HOUSE = (
    r"(?! ?(?:años|anos|año|meses|mes|días|dias|semanas|€|euros?|horas?|minutos?|personas|hijos|veces|years?|months?"
    r"|ans|mois|ani|luni|anys|%|года?|лет|років|роки|سنة|سنوات))"
)
_FLAT = (
    r"(?:,? ?(?:\d{1,3} ?[ºª°]|piso|puerta|pta\.?|esc\.?|escalera|bajos?|portal|izq\w{0,6}\.?|dcha?\.?|derecha|planta"
    r"|apt\.?|ap\.|bl\.|et\.|sc\.|flat|кв\.?|под\.?|شقة)"
    r" ?\d{0,3} ?[º°ª]?(?: ?(?-i:[A-Z])(?!\w))?){0,4}"
)
_NAMED = (
    r"me llamo|mi nombre (?:completo )?es|my (?:full )?name is|my name['’]s|je m['’ ]?appelle|mon nom est"
    r"|em dic|el meu nom [eé]s|me chamo|chamo-me|ch[aá]mome"
    r"|(?<!em )meu nome (?:é|e)(?! (?:do|da|o|a)\b)"
    r"|m[aă] numesc|m[aă] cheam[aă]|numele meu (?:este|e)|меня зовут|мо[её] имя|мене звати"
    r"|мене звуть|моє ім['’ʼ]?я|اسمي(?: هو)?|إسمي"
)
_KIN = (
    r"(?:hijo|hija|hijos|marido|mujer|esposo|esposa|madre|padre|herman[oa]|pareja|bebé|bebe|niñ[oa]|abuel[oa]|suegr[oa]"
    r"|él|ella) se llama"
    r"|(?:his|her|son['’]s|daughter['’]s|wife['’]s|husband['’]s) name is"
    r"|(?:il|elle|fils|fille|mari|femme|s(?:œ|oe)ur|fr[eè]re|m[eè]re|p[eè]re) s['’ ]?appelle"
    r"|(?:îl|o) cheam[aă]"
    r"|(?:fillo|filla|marido|muller|nai|pai|el|ela) ch[aá]mase"
    r"|(?:fill|filla|marit|dona|mare|pare) es diu|(?:filho|filha|marido|mulher|mãe|pai|ele|ela) (?:se chama|chama-se)"
    r"|(?:его|е[её]|сына|дочь|мужа|жену|маму) зовут|(?:його|її|сина|доньку|чоловіка|дружину) (?:звати|звуть)|اسمه|اسمها"
    r"|(?:ولدي|بنتي|راجلي|مراتي) سميت\w{1,2}"
)
_PRESENTED = r"soy|i am|i['’]m|this is|je suis|s[oó]c|sou|sunt|я|habla|firmado|firma|atentamente"
_LABEL = r"(?:nombre(?: y apellidos)?|apellidos?|name|full name|nom|nume|nome|имя|фио|ім['’]я|піб|الاسم|姓名|名字) ?[:：]"
# Words that follow a name and are none.
_AFTER = (
    r"un|una|y|e|i|o|and|et|și|si|и|і|й|та|а|soy|tengo|vivo|quiero|quisiera|necesito|estoy|llevo|busco|puedo|hola|vengo|trabajo"
    r"|acabo|mi|el|la|los|con|desde|para|por|pero|que"
    r"|en|no|le|les|me|se|ya|pido|cómo|como|cuánto|dónde|nací|pregunto|buenas|tiene|vive|quiere|necesita|está|am|im|i'm"
    r"|have|live|need|want|from|my|is|he|she|how|what|can|has|lives|needs"
    r"|teño|son|je|j'ai|suis|ai|habite|mon|ma|sunt|locuiesc|vreau|doresc|am|din|tenho|moro|sou|quero|preciso|gostaria|com|visc"
    r"|tinc|vull|necessito|sóc|amb|я|мне|мені|у|в|из|з|с|мой|моя"
    r"|живу|хочу|нужно|потрібно|можна|можно|мій|есть|є|как|как-то|приехал\w?|приїха\w{1,2}|أنا|من|عندي|عندو|عندها|أريد"
    r"|بغيت|أعيش|ساكن\w?|في|كيف|هل|و\w{1,20}|عمري|ساكنة|مغربي\w?"
)
_LOW_NAME = rf"(?!(?:{_AFTER})(?!\w))[^\W\d_][^\W\d_'’\-]{{1,20}}(?:[-'’][^\W\d_]{{1,20}})?"
_BIG_NAME = r"(?-i:[A-ZÀ-ÞĂÂÎȘȚŁŠŽА-ЯІЇЄҐ])[^\W\d_'’\-]{1,20}(?:[-'’][^\W\d_]{1,20})?"
_PARTICLES = r"(?:(?:de|del|de la|de los|da|dos|do|das|van|von|el|al|ben|bin|bint|ould|abu) ){0,2}"
_CARRIED = (
    r"dni|d\.n\.i\.?|nie|n\.i\.e\.?|nif|tie|documento|document|c[eé]dula|identidad|identity|id|identité|carte|carnet"
    r"|identitate|buletin\w{0,3}"
    r"|удостоверени\w|документ\w{0,3}|посвідчення|بطاقة|الهوية|وثيقة|身份证|居留卡|证件"
)
_PASSPORT = (
    r"pasaporte|passport|passeport|pa[sș]aport\w{0,3}|passaporte?|паспорт\w{0,3}|загранпаспорт\w{0,3}"
    r"|جواز(?: السفر| سفر\w?)?|الباسبور|护照"
)
_AFFILIATED = (
    r"naf|nuss|afiliaci[oó]n|seguridad social|social security|sécurité sociale|seguran[cç]a social"
    r"|seguretat social|الضمان الاجتماعي|社保|соц\w{0,10}"
)
_CALLED = (
    r"tel[eé]fono|tel[eé]fon|tel\.?|tlf\.?|tfno\.?|m[oó]vil|mobile|phone|cell|t[eé]l[eé]phone|portable|telem[oó]vel"
    r"|celular|whats?app|wasap|mòbil|telefonul|num[aă]rul|numéro"
    r"|номер\w?|телефон\w{0,2}|هاتف\w?|الهاتف|تليفون\w?|رقمي|نمرتي|电话|手机|号码|llámame|llamame|llamarme|call me|contacto"
)
_FILED = (
    r"expediente|exp\.|referencia|ref\.|dossier|r[eé]f[eé]rence|file|case|reference|expedient|processo"
    r"|dosar\w{0,3}|дел[оа]|справ\w{0,2}|ملف\w?|档案号?|案号"
)
# A number of a document, written with letters or gaps: at least six digits.
_NUMBER = r"(?<![a-z\d])[a-z]{0,3}[ \-.]?\d(?:[ .\-]?\d){5,9}(?:[ \-]?(?-i:[A-Z])|-?[a-z])?(?![a-z\d])"


# What looks like identity data and is none: norms, official gazettes, forms, amounts, addresses of pages.
PROTECTED: Final = any_of(
    r"https?://[^\s@]{1,200}",
    r"[\w.+\-]{1,64}@(?:[\w\-]{1,40}\.){0,3}(?:gob|policia|guardiacivil|seg-social|sepe|boe|cruzroja|cear|accem)\.(?:es|org)\b",
    r"(?<!\d)7\d\d-\d{3}(?!\d)",
    r"\bBOE-[A-Z]-\d{4}-\d{1,6}",
    r"(?<![\d/])\d{1,4}/(?:19|20)\d{2}(?!\d)(?! ?/)",
    r"\b(?:modelo|model|form|formulario|impreso) \d{2,3}(?: c[oó]digo \d{3})?",
    r"(?<![\d.,])\d{1,3}(?:[. ]\d{3}){0,3}(?:,\d{1,2})? ?(?:€|eur\b|euros?\b|евро|євро|يورو|欧元|ευρώ)",
    r"(?<![\d.,])\d{1,9}(?:[.,]\d{1,2})? ?(?:€|eur\b|euros?\b|евро|євро|يورو|欧元)",
    r"(?:€|EUR) ?\d{1,3}(?:[., ]?\d{3}){0,3}(?:[.,]\d{1,2})?",
)

# In the order in which they are looked for: what one takes, the next does not see.
PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    "CORREO": any_of(
        r"[\w.+\-]{1,64} ?@ ?[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,4}",
        r"[\w.+\-]{1,64} ?(?:\(at\)|\[at\]|\(arroba\)| arroba )\s?[\w\-]{1,63} ?(?:\.| punto | dot )\s?[a-z]{2,6}\b",
    ),
    "IBAN": any_of(
        r"(?<![a-z\d])(?:(?-i:[A-Z]{2}) ?|[a-z]{2})\d{2}(?:[ .\-]?\d){12,28}(?![a-z\d])", r"(?<!\d)\d(?:[ .\-]?\d){19,23}(?!\d)"
    ),
    "CUENTA": any_of(r"(?<![a-z\d])[a-z]{2}\d{2}(?:[ \-]?[a-z\d]{4}){2,7}(?:[ \-]?[a-z\d]{1,3})?(?![a-z\d])"),
    "TARJETA": any_of(r"(?<!\d)(?!(?:(?:19|20)\d\d[ .\-]?){4})\d(?:[ .\-]?\d){12,18}(?!\d)"),
    "NIE": any_of(
        r"(?<![a-z\d])[xyz][ .\-]?(?:\d{7,8}|\d\.\d{3}\.\d{3}|\d{1,2} \d{3} \d{3})(?:[ .\-]?(?-i:[A-Z])"
        r"|[.\-]?[a-z])?(?![a-z\d])"
    ),
    "DNI": any_of(
        r"(?<![a-z\d.,])\d{1,2}[. ]?\d{3}[. ]?\d{3}(?: ?-? ?(?-i:[A-Z])"
        r"|-?[a-z])(?![a-z\d])",
        r"(?<![a-z\d.,/\-])\d{8}(?![\d/]|[.,]\d)",
    ),
    "NAF": any_of(
        r"(?<!\d)\d{2}[ /.\-]\d{7,8}[ /.\-]\d{2}(?!\d)",
        rf"(?:{_AFFILIATED})(?![a-z])\D{{0,25}}(?P<it>\d{{2}}[ /.\-]?\d(?:[ .\-]?\d){{6,7}}[ /.\-]?\d{{2}})(?!\d)",
    ),
    "NACIMIENTO": any_of(
        rf"(?:{_BORN})\D{{0,30}}(?<!\d)(?P<it>{_DATE})",
        rf"(?P<it2>{_DATE}) ?(?:出生|生的?|г\. ?р\."
        r"|р\. ?н\.)",
    ),
    "TELEFONO": any_of(
        rf"(?<![a-z\d])(?:\+|00) ?\d{{1,3}}{_GAP}\(?\d(?:[ .\-()]{{0,2}}\d){{6,11}}(?!\d)",
        r"(?<![\d.,/\-])[6-9](?:[ .\-]?\d){8}(?![\d/]|,\d)",
        r"(?<![\d.,/\-])0\d(?:[ .\-]?\d){8,9}(?!\d)",
        rf"(?:{_CALLED})(?![a-z])\D{{0,20}}?(?P<it>\+?\d(?:[ .\-]?\d){{6,12}})(?!\d)",
        r"(?<![\d.,/\-])\d{9,12}(?!\d)",
    ),
    "PASAPORTE": any_of(
        rf"(?:{_PASSPORT})(?![a-z])\D{{0,24}}?(?P<it>{_NUMBER})",
        r"(?<![a-z\d/\-])(?-i:[A-Z]{1,3})[ \-]?\d{6,8}(?![a-z\d/])",
        r"(?:серия|серія) ?(?P<it2>\d{2} ?\d{2},? ?(?:номер|№)? ?\d{6})(?!\d)",
        r"(?<![a-z\d/\-])[a-z]{1,3}\d{6,8}(?![a-z\d/])",
    ),
    "DOCUMENTO": any_of(rf"(?<![a-z])(?:{_CARRIED})(?![a-z])\D{{0,24}}?(?P<it>{_NUMBER})"),
    "EXPEDIENTE": any_of(
        rf"(?<![a-z])(?:{_FILED})(?![a-z])\D{{0,16}}?(?P<it>(?=(?:[\w/.\-]{{0,3}}\d){{5}})[\w/.\-]{{5,30}}\b)"
    ),
    "DIRECCION": any_of(
        rf"(?<!\w)(?:{_STREET})(?:(?<=[/.])|(?!\w)) ?(?:{_STREET_WORD} ?){{1,5}},? ?(?:n[ºo°úu]m?e?r?o?\.? ?|д\.? ?"
        rf"|nr\.? ?)?\d{{1,4}}(?!\d){_NO_HOUSE}{_FLAT}",
        rf"(?<!\d)\d{{1,4}},? (?:bis )?(?:rue|avenue|boulevard|place) (?:{_STREET_WORD} ?){{1,5}}",
        r"(?<!\d)\d{1,4} (?:(?-i:[A-Z])[a-z'’]{1,20} ){1,3}(?:street|road|avenue|lane|st\.|rd\.)(?!\w)",
        r"[\u4e00-\u9fff]{1,8}(?:路|街|大道) ?\d{1,4} ?号?(?: ?\d{1,3} ?(?:楼|室|单元))?",
    ),
    "NOMBRE": any_of(
        rf"(?<!\w)(?:{_NAMED}),?:? (?P<it>{_LOW_NAME}(?: {_PARTICLES}{_LOW_NAME}){{0,2}}(?: {_PARTICLES}{_BIG_NAME}){{0,2}})",
        rf"(?<!\w)(?:{_KIN}) (?P<it2>(?:{_BIG_NAME}|[\u0621-\u064a]{{2,12}})(?: {_PARTICLES}{_BIG_NAME}){{0,3}})",
        rf"(?<!\w)(?:{_PRESENTED}),? (?:(?:la|el|en|na|a|o) )?(?P<it3>{_BIG_NAME}(?: {_PARTICLES}{_BIG_NAME}){{1,3}})",
        rf"(?<!\w)(?:{_LABEL}) ?(?P<it4>{_LOW_NAME}(?: {_PARTICLES}{_LOW_NAME}){{0,3}}|[\u4e00-\u9fff]{{2,4}})",
        rf"(?<!\w)(?:nombre|apellidos?) (?P<it6>{_BIG_NAME}(?: {_PARTICLES}{_BIG_NAME}){{0,3}})",
        r"(?:我叫做?|我的名字[是叫]|我姓名是|(?:儿子|女儿|丈夫|妻子|老公|老婆|他|她)叫"
        r"|名叫) ?(?P<it5>[\u4e00-\u9fff]{2,3}?)(?=[，,。！!？? ]|$|我|想|是|来|今|要"
        r"|住|在|的)",
    ),
}


# What may say who somebody is. All of it errs towards yes: a wrong yes costs one search, a wrong no would remember a person.
_SAID: Final = any_of(
    r"@|\barroba\b",
    rf"(?<!\w)(?:{_NAMED}|{_KIN}|se llama|meu nome [eé]|numele meu|ch[aá]mase)(?!\w)|s['’ ]?appelle",
    r"我叫|我的名字|名叫|我姓",
    # In Arabic script there are no capitals: every "I am" counts. Elsewhere two words with a capital behind it are a name.
    rf"(?<!\w)(?:{_PRESENTED}|أنا) (?:(?-i:[^\W\d_a-zа-яіїєґ])[^\W\d_]+ ){{1,3}}(?-i:[^\W\d_a-zа-яіїєґ])[^\W\d_]+",
)
_NUMBERED: Final = any_of(
    r"(?:\d[ .\-()]*){7}|\d{6}",
    r"\b[a-z]{1,4}[ -]?\d{5}",
    r"\b(?=(?:[a-z]*\d){4})[a-z\d]{7,}\b",
    r"\b[a-z]{2}\d{2}(?:[ -]?[a-z\d]{4}){3}",
    rf"(?<!\d){_DATE}|(?<!\d)\d{{1,2}}[ ./-]+\d{{1,2}}[ ./-]+\d{{2}}",
    rf"(?:{_BORN})\D{{0,25}}\d{{2}}|\d{{4}} ?年? ?出生|\d{{1,4}} ?年 ?\d{{1,2}} ?月",
    rf"(?<!\w)(?:{_STREET}|улиц\w*|вулиц\w*|placa)(?:(?<=[/.])|(?!\w))\D{{0,40}}\d",
    rf"(?<!\w)(?:{_FILED})(?!\w)\D{{0,20}}\d{{3}}",
)
_DIGIT: Final = re.compile(r"\d")


def may_identify(text: str) -> bool:
    """Whether a text may hold an address, a number, a date of birth or a name of a person, seen as cautiously as can be."""
    plain, _ = _plain(spaced(text))
    # Most questions have no digit, and the many patterns with one are then spared.
    return bool(_SAID.search(plain) or (_DIGIT.search(plain) and _NUMBERED.search(plain)))


# Kinds that nobody needs to send; a name, an address or a date of birth is part of how people tell things.
NUMBERS: Final = frozenset({"DNI", "NIE", "PASAPORTE", "DOCUMENTO", "NAF", "IBAN", "TARJETA"})
# Signs that stand in the plain text for what is not to be looked at again: of any length, matched by no pattern.
_TAKEN, _KEPT = "\x00", "\x01"
_DASHES = frozenset("‐‑‒–—―−﹣－")
_COUNTRY = "34"
_NATIONAL = 9


def masked(text: str) -> str:
    """Give the text with identity data replaced by marks of their kinds; masking twice changes nothing more."""
    pieces: list[str] = []
    end = 0
    for start, stop, kind in _spans(text):
        pieces += [text[end:start], f"[{kind}]"]
        end = stop
    return "".join([*pieces, text[end:]])


def identity_in(text: str) -> frozenset[str]:
    """Give the kinds of identity data in a text, such as NIE, IBAN or NOMBRE; none for most texts."""
    return frozenset(kind for _, _, kind in _spans(text))


def holds_numbers(text: str) -> bool:
    """Whether a text holds numbers of documents, accounts or cards: who sends them should be told not to."""
    return bool(identity_in(text) & NUMBERS)


def _spans(text: str) -> list[tuple[int, int, str]]:
    """Give (start, end, kind) of each piece to hide, in the order of the text, without overlaps."""
    plain, places = _plain(text)
    for match in PROTECTED.finditer(plain):
        plain = _blanked(plain, *match.span(), _KEPT)
    found: list[tuple[int, int, str]] = []
    for kind, pattern in PATTERNS.items():
        for start, end in _pieces(pattern, plain):
            piece = plain[start:end]
            if _harmless(kind, piece):
                plain = _blanked(plain, start, end, _KEPT) if kind == "TELEFONO" else plain
                continue
            plain = _blanked(plain, start, end, _TAKEN)
            found.append((places[start], places[end - 1] + 1, "IBAN" if kind == "CUENTA" else kind))
    return sorted(found)


def _pieces(pattern: re.Pattern[str], plain: str) -> Iterator[tuple[int, int]]:
    """Give where each match hides something: in its named group, or the whole; without blanks at its ends."""
    for match in pattern.finditer(plain):
        named = next((name for name, value in match.groupdict().items() if value is not None), None)
        start, end = match.span(named) if named else match.span()
        piece = match.string[start:end]
        yield start + len(piece) - len(piece.lstrip(" ,")), end - (len(piece) - len(piece.rstrip(" ,")))


def _harmless(kind: str, piece: str) -> bool:
    """Whether a piece that looks like identity data is none: an office's telephone, a word group that is no IBAN."""
    if kind == "CUENTA":
        account = re.sub(r"[ \-]", "", piece).upper()  # ISO 13616: the check digits hold, whatever the country's own rules
        return not mod_97_10.is_valid(account[4:] + account[:4])
    if kind not in {"TELEFONO", "NAF", "IBAN", "TARJETA"}:
        return False
    digits = "".join(filter(str.isdigit, piece))
    if len(digits) > _NATIONAL and digits.lstrip("0").startswith(_COUNTRY):
        digits = digits.lstrip("0").removeprefix(_COUNTRY)
    return digits in OFFICES or (len(digits) == _NATIONAL and digits.startswith(OF_BODIES))


def _plain(text: str) -> tuple[str, list[int]]:
    """Give the text with plain digits, letters, spaces and dashes, and where each sign of it stands in the text.

    Invisible signs are left out: between digits they hide nothing.
    """
    seen = [(_plain_sign(sign), place) for place, sign in enumerate(text) if unicodedata.category(sign) != "Cf"]
    return "".join(sign for sign, _ in seen), [place for _, place in seen]


def _plain_sign(sign: str) -> str:
    """Give a sign as patterns know it; always one sign."""
    if unicodedata.category(sign) == "Nd":
        return str(unicodedata.digit(sign))
    if sign in _DASHES:
        return "-"
    if sign.isspace():
        return " "
    wide = compatible(sign) if unicodedata.east_asian_width(sign) == "F" else sign
    # The comma and the full stop of Chinese end a sentence; folded, they would seem to go on a number.
    return wide if len(wide) == 1 and (wide.isalnum() or wide in "@+()-/") else sign


def _blanked(plain: str, start: int, end: int, sign: str) -> str:
    return plain[:start] + sign * (end - start) + plain[end:]
