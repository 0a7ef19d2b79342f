"""One self-contained HTML page: nothing is fetched, nothing runs; readable on a phone and in the dark."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

# Contrast of words to their ground is at least 4.5 in both schemes; the three lines also differ by their end labels.
STYLE: Final = """
:root{color-scheme:light dark;--paper:#fbfaf8;--card:#fff;--ink:#1d2329;--muted:#58626d;--rule:#dcdfe3;--accent:#2563a8;
--bar:#7fa8d4;--good:#2c7a4b;--bad:#b3402a;--same:#c9ced4;--s0:#1f5fa6;--s1:#a3470f;--s2:#3c7a2a;--warn:#fdf1d5;
--warnink:#6a4700}
@media(prefers-color-scheme:dark){:root{--paper:#14181c;--card:#1c2228;--ink:#e6e9ec;--muted:#a3adb8;--rule:#353d46;
--accent:#7db4ee;
--bar:#41719f;--good:#3f9a64;--bad:#d0634d;--same:#4a535d;--s0:#7db4ee;--s1:#f0a063;--s2:#8fce7a;--warn:#3b2f12;
--warnink:#f3d48b}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1080px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:40px 0 12px;padding-top:16px;border-top:1px solid var(--rule)}
p{margin:0 0 12px;max-width:75ch;overflow-wrap:anywhere}.muted,figcaption,caption{color:var(--muted);font-size:.875rem}
.notice{background:var(--warn);color:var(--warnink);padding:10px 14px;border-radius:8px;margin:14px 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:12px;margin:18px 0;padding:0;
list-style:none}
.tiles li{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px 14px}
.tiles b{display:block;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}
.tiles span{color:var(--muted);font-size:.8125rem}
.tiles .name{color:var(--ink);font-size:.875rem}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,400px),1fr));gap:16px;align-items:start;margin-bottom:12px}
figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:14px}
figcaption{margin-bottom:8px}figcaption b{color:var(--ink);display:block;font-size:1rem}
svg{display:block;width:100%;height:auto;max-width:460px;font-family:inherit}svg text{fill:var(--ink)}
svg .small{font-size:11px;fill:var(--muted)}svg .end{text-anchor:end}svg .middle{text-anchor:middle}
svg .bar{fill:var(--bar)}svg .grid,svg .axis{stroke:var(--rule);fill:none}
svg .whisker{stroke:var(--ink);stroke-width:1.5;fill:none}
svg .mark{stroke:var(--bad);stroke-width:1.5;stroke-dasharray:4 3;fill:none}
svg .line{fill:none;stroke-width:2}svg .band{opacity:.14}svg .lost{fill:var(--bad)}svg .same{fill:var(--same)}
svg .gained{fill:var(--good)}
svg .on-lost,svg .on-gained{fill:#fff}
svg .line.s0{stroke:var(--s0)}svg .line.s1{stroke:var(--s1)}svg .line.s2{stroke:var(--s2)}
svg .s0:not(.line){fill:var(--s0)}svg .s1:not(.line){fill:var(--s1)}svg .s2:not(.line){fill:var(--s2)}
.scroll{overflow-x:auto;margin:12px 0}.scroll:focus-visible{outline:2px solid var(--accent)}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:4px 0 6px}
th,td{padding:6px 10px;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}th{font-weight:600}
thead th{white-space:nowrap}
td.n,th.n{text-align:right;white-space:nowrap}td.wide{min-width:15em}td,tbody th{overflow-wrap:anywhere}
tbody th{font-weight:500;min-width:8em}
details{margin:12px 0}summary{cursor:pointer;color:var(--accent)}code{overflow-wrap:anywhere;font-size:.875em}
@media print{figure,.tiles li{break-inside:avoid}}
"""

# Nothing may be fetched or run, whatever a text of the run says.
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, body: Iterable[str]) -> str:
    """Give the whole page around parts that are HTML already."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def section(title: str, *parts: str) -> str:
    """Give a section with its heading; without a part that says anything, nothing."""
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>" if any(parts) else ""


def figure(title: str, note: str, drawn: str) -> str:
    """Give a plot under its title and a note of how to read it."""
    return f"<figure><figcaption><b>{escape(title)}</b>{escape(note)}</figcaption>{drawn}</figure>"


def plots(*figures: str) -> str:
    """Give plots beside each other, or below each other where the page is narrow."""
    drawn = "".join(figures)
    return f'<div class="plots">{drawn}</div>' if drawn else ""


def paragraph(words: str, kind: str = "") -> str:
    """Give a paragraph of plain words."""
    return f'<p class="{kind}">{escape(words)}</p>' if kind else f"<p>{escape(words)}</p>"


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], wide: Sequence[str] = ()) -> str:
    """Give a table whose first column names its rows; columns of figures are set to the right. Without rows, nothing.

    `wide` names columns of running text, which need room.
    """
    if not rows:
        return ""
    numeric = [all(_is_figure(row[at]) for row in rows) for at in range(len(heads))]
    head = "".join(
        f'<th scope="col"{_kind(is_n, False)}>{escape(name)}</th>' for name, is_n in zip(heads, numeric, strict=True)
    )
    body = "".join(f"<tr>{_row(row, heads, numeric, wide)}</tr>" for row in rows)
    told = escape(caption)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{told}"><table><caption>{told}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: Sequence[str], heads: Sequence[str], numeric: Sequence[bool], wide: Sequence[str]) -> str:
    first, *others = row
    cells = zip(others, heads[1:], numeric[1:], strict=True)
    return f'<th scope="row">{escape(first)}</th>' + "".join(
        f"<td{_kind(is_n, name in wide)}>{escape(cell)}</td>" for cell, name, is_n in cells
    )


def _kind(is_numeric: bool, is_wide: bool) -> str:
    return ' class="n"' if is_numeric else ' class="wide"' if is_wide else ""


def _is_figure(cell: str) -> bool:
    return not cell or cell == "–" or cell[0] in "+-.0123456789−"


def tiles(figures: Iterable[tuple[str, str, str]]) -> str:
    """Give the headline figures: name, figure, and a line below."""
    items = "".join(
        f'<li><span class="name">{escape(name)}</span><b>{escape(value)}</b><span>{escape(note)}</span></li>'
        for name, value, note in figures
    )
    return f'<ul class="tiles">{items}</ul>'
