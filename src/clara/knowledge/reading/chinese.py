"""Dates as Chinese writes them: 2026年6月30日, 5月1日至15日, 六月三十日."""

import re

from clara.knowledge.figures import Figure, FigureKind
from clara.knowledge.reading.numbers import chinese
from clara.knowledge.reading.page import Page

_NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_DATE = re.compile(
    rf"(?:(?P<year>(?:19|20)\d{{2}}|[一二〇零三四五六七八九]{{4}})\s*年\s*)?(?<![个個\d一二三四五六七八九十])"
    rf"(?P<month>{_NUMBER})\s*月(?!内)(?:\s*(?P<day>{_NUMBER})\s*[日号號]"
    rf"(?:\s*[至到和、-]+\s*(?P<last>{_NUMBER})\s*[日号號])?)?"
)
_CHINESE_YEAR = re.compile(r"(?P<year>(?:19|20)\d{2}|二[〇零][一二〇零三四五六七八九]{2})\s*年")
_MONTHS, _DAYS = 12, 31


def read_chinese_dates(page: Page) -> None:
    """Read dates, months and years in Chinese."""
    for match in page.matches(_DATE):
        month = int(chinese(match["month"]))
        if not 1 <= month <= _MONTHS:
            continue
        year = f"{chinese(match['year']):.0f}" if match["year"] else None
        days = [int(chinese(match[name])) for name in ("day", "last") if match[name]]
        if any(not 1 <= day <= _DAYS for day in days):
            continue
        if not days:
            page.add(*match.span(), [Figure(FigureKind.DATE, f"{year}-{month:02d}" if year else f"--{month:02d}")])
            continue
        spans = [(match.start(), match.end("day")), (match.end("day"), match.end())]
        for (start, end), day in zip(spans, days, strict=False):
            page.add(start, end, [Figure(FigureKind.DATE, f"{year or '-'}-{month:02d}-{day:02d}")])
        page.hide(*match.span())
    for match in page.matches(_CHINESE_YEAR):
        page.add(*match.span(), [Figure(FigureKind.DATE, f"{chinese(match['year']):.0f}")])
