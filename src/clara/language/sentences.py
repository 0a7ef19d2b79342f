"""Where a text may be cut: after whole sentences, never inside a number or behind an abbreviation."""

import re
from collections.abc import Set as AbstractSet

# Ordinary abbreviations of Spanish, Catalan, Portuguese, French, Italian, German and English that are followed by a name or
# a number. Those that may also end a sentence (etc., a.m.) are not here; a cut that is missed costs less than a wrong one.
_ABBREVIATED = """
aa admón ap apdo aprox art arts av avda bibl bvd bzw cap caps cc cf cfr cía ctra dep depto disp doc dr dra drs dto ed eds ee
ej esp excma excmo exp ext ff fig figs fr gral hon hrsg inc ing jr lic ltd máx mín mons mr mrs ms mt mtro mtra mto nr ntra
núm núms num nums obs op pág págs pag pags párr pp prof profa prov ptas pza reg rev rte ref sec sig sr sra sras sres srta
srtas ss st sta ste sto tel teléf tfno tít tlf trad univ vd vds vid vol vols vs
"""
ABBREVIATIONS = frozenset(_ABBREVIATED.split())

# Closing quotes and brackets belong to the sentence. Chinese and Japanese put no space behind a full stop. A blank line always
# ends a sentence; so does a line break before a bullet, a heading or a numbered item. Possessive, so that a run of dots costs
# its length and not its square.
_END = re.compile(
    r"(?<![.!?…؟۔।॥])(?P<stop>[.!?…؟۔।॥]++)[\"'”’»)\]]*+(?=\s)"
    r"|[。！？]++[」』”’）]*+"
    r"|(?P<blank>(?=\n[ \t]*+\n))"
    r"|(?=\n[ \t]*+(?:[-*•–]|\#{1,6}|\d{1,3}[.)])[ \t])"
)
_LAST_WORD = re.compile(r"[^\W_][\w.]*\.$")
_NEXT = re.compile(r"(?P<gap>\s*)(?P<item>\d{1,3}[.)]\s)?(?P<first>\S?)")


def sentence_ends(text: str, abbreviations: AbstractSet[str] = ABBREVIATIONS) -> list[int]:
    """Give the places, in characters and ascending, behind which the text may be cut; the last is its end without blanks.

    A full stop ends no sentence behind one of the `abbreviations` (lower case, without stop), a single letter, letters with
    stops between them (p.ej., EE.UU.) or the number of an item, nor before a lower-case letter or a digit.
    """
    length = len(text.rstrip())
    blank = len(text) - len(text.lstrip())
    ends = {match.end() for match in _END.finditer(text, 0, length) if _ends(match, abbreviations)}
    return sorted(end for end in ends | {length} if end > blank)


def _ends(match: re.Match[str], abbreviations: AbstractSet[str]) -> bool:
    if match["blank"] is not None:
        return True
    text, stop = match.string, match["stop"] or ""
    if _shortened(text[max(0, match.start() - 40) : match.start()] + stop[:1], abbreviations):
        return False
    follows = _NEXT.match(text, match.end())
    if not stop or follows is None or (follows["item"] and "\n" in follows["gap"]):
        return True
    first = (follows["item"] or follows["first"])[:1]
    return not first.islower() and not first.isdigit()


def _shortened(head: str, abbreviations: AbstractSet[str]) -> bool:
    found = _LAST_WORD.search(head)
    if found is None:
        return False
    word = found[0].rstrip(".")
    if word.isdigit():  # "1." is the number of an item where nothing but blanks precedes it in its line
        return not head[: found.start()].rpartition("\n")[2].strip()
    parts = word.split(".")
    initials = all(part.isalpha() and len(part) <= 2 for part in parts) and (len(parts) > 1 or len(word) == 1)  # noqa: PLR2004
    return initials or parts[-1].lower() in abbreviations
