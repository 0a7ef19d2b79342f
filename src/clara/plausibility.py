"""Whether what an operator set can be meant: addresses, keys and tokens. Each says what is wrong and the remedy, or None."""

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

MINIMUM_KEY_CHARACTERS: Final = 32
FEWEST_DIFFERENT_CHARACTERS: Final = 8  # of 200,000 random keys of 32 hexadecimal digits none had fewer
MAKE_KEY: Final = "Make one: python3 -c 'import secrets; print(secrets.token_hex(32))'"
# As Twilio's console shows it. The signature of every webhook hangs on it, so one that can be guessed is none.
AUTH_TOKEN: Final = re.compile(r"[0-9a-f]{32}", re.IGNORECASE)
DATABASES: Final = ("postgresql://", "postgres://")


def weak_key(key: str, *, public: bool) -> str | None:
    """Judge a key that people's secrets hang on; `public`: everybody knows it."""
    if len(key) < MINIMUM_KEY_CHARACTERS:
        return f"is too short. {MAKE_KEY}"
    if public or len(set(key)) < FEWEST_DIFFERENT_CHARACTERS:
        return f"can be guessed: it is the sample of the documentation, or hardly random. {MAKE_KEY}"
    return None


def auth_token(token: str) -> str | None:
    """Judge the token of an account at Twilio."""
    if AUTH_TOKEN.fullmatch(token):
        return None
    return "must be the account's auth token, 32 hexadecimal digits. Copy it from the console of Twilio, without blanks"


def database_address(address: str) -> str | None:
    """Judge the address of the database, which drivers and tools must understand alike."""
    if address.startswith(DATABASES):
        return None
    return "must look like postgresql://user:password@host:5432/database, without the name of a driver after postgresql"


def public_address(address: str) -> str | None:
    """Judge the address under which Twilio reaches Clara: with TLS, or on this machine."""
    try:
        parts = urlsplit(address)
        usable = parts.port is None or parts.port > 0
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or any(character.isspace() for character in address):
        return "must be an address like https://clara.example.org, without query or blanks"
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        return "must be an address like https://clara.example.org"
    if parts.scheme == "http" and not is_this_machine(parts.hostname):
        return (
            "must begin with https://: what people write would travel readable for anybody. http:// is for this machine alone"
        )
    return None


def is_this_machine(host: str) -> bool:
    """Whether a host's name or address never leaves this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
