"""Links as tokens: a model is shown {{L1}} instead of an address and can write no other, so no address of its own gets out."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

# The addresses of the facts are of these top-level domains; what looks like another one is no address there ("p.ej.").
_SITE = (
    r"(?<![\w@.-])(?:https?://[^\s«»“”\"<>]+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:[a-z0-9-]+\.)+(?:es|cat|eus|gal|eu|org|com|net|info)(?![\w@])(?:/[^\s,;)«»]*)?)"
)
_ADDRESS: Final = re.compile(_SITE, re.IGNORECASE)
_BEHIND: Final = ").]},;:!?…*'’"
TOKEN: Final = re.compile(r"\{\{L\d+\}\}")


def with_tokens(texts: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Put tokens where the texts hold addresses; give the texts and the address of each token."""
    tokens: dict[str, str] = {}

    def token(match: re.Match[str]) -> str:
        address = match[0].rstrip(_BEHIND)
        name = tokens.setdefault(address, f"{{{{L{len(tokens) + 1}}}}}")
        return name + match[0][len(address) :]

    hidden = [_ADDRESS.sub(token, text) for text in texts]
    return hidden, {name: address for address, name in tokens.items()}


def with_addresses(text: str, addresses: Mapping[str, str]) -> str:
    """Put the addresses back where their tokens stand; unknown tokens stay, for the gates to find."""
    return TOKEN.sub(lambda match: addresses.get(match[0], match[0]), text)
