"""Whose pages facts are read from: hosts of public bodies, and hosts that are never cited. Kept in data/hosts.json."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from clara.knowledge.faults import DataError, read_document, read_schema

HOSTS_FILE = "hosts.json"


def within(host: str | None, domain: str) -> bool:
    """Whether a host is the domain itself or lies below it."""
    name = (host or "").lower().rstrip(".")
    return name == domain or name.endswith(f".{domain}")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The domains of public bodies with their names, and the domains that are never cited with what they do."""

    public: Mapping[str, str]
    refused: Mapping[str, str]

    def body_of(self, url: str) -> str | None:
        """Give the public body that publishes a page; None when none does."""
        return _named(self.public, url)

    def refusal_of(self, url: str) -> str | None:
        """Say why a page is never cited; None when it may be."""
        return _named(self.refused, url)


def read_hosts(folder: Path) -> Hosts:
    """Read `folder`/hosts.json. Raises DataError naming every fault."""
    document, faults = read_document(folder / HOSTS_FILE, FILE, read_schema(folder / "schema" / "hosts.schema.json"))
    if document is None:
        raise DataError(faults)
    return Hosts(document["public"], document["refused"])


def _named(domains: Mapping[str, str], url: str) -> str | None:
    host = urlsplit(url).hostname
    return next((name for domain, name in domains.items() if within(host, domain)), None)
