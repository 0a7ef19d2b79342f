"""The templates of the reports: pages that stand alone, and tables in Markdown."""

from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def _is_figure(cell: str) -> bool:
    return not cell or cell == "–" or cell[0] in "+-.0123456789−"


_TEMPLATES: Final = Environment(
    loader=PackageLoader("clara_lab"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.tests["figure"] = _is_figure


def rendered(template: str, **values: Any) -> str:  # noqa: ANN401  whatever a template shows
    """Fill in a template by its file name. In HTML every value is escaped but what is Markup already."""
    return _TEMPLATES.get_template(template).render(values)
