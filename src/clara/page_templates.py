"""Pages of text as templates: macros in a file beside the module that knows what they tell."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def read_macros(package: str, file: str, **known: object) -> Any:  # noqa: ANN401  a module of macros
    """Give the macros of a file as functions. What is `known` they may use by its name, functions as filters too."""
    environment = Environment(  # noqa: S701  for terminals and models, not for browsers
        loader=PackageLoader(package, "."), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= known
    environment.filters |= {name: value for name, value in known.items() if callable(value)}
    return environment.get_template(file).module
