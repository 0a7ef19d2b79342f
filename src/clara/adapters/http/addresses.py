"""Which addresses may be connected to: public ones. A name that leads inside our own network is refused unasked."""

from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

from clara.adapters.http.deadline import Resolve, resolved
from clara.errors import Refused

Address = IPv4Address | IPv6Address
# Addresses of IPv4 that are reached through translators between the two (RFC 6052, RFC 8215).
TRANSLATED: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))


class AddressRefusedError(Refused):
    """A name leads to an address that is not public: somebody would have us ask inside our own network."""


def public_only(inside: Collection[str], resolve: Resolve = resolved) -> Resolve:
    """Resolve names, and refuse one with any address that is not public. Hosts in `inside` may have any address.

    What is given is what is connected to, so the name cannot lead elsewhere between the look and the connection. Raises
    AddressRefusedError besides what `resolve` raises.
    """

    def look(host: str, port: int, seconds: float) -> list[str]:
        addresses = resolve(host, port, seconds)
        if host not in inside and not all(is_public(address) for address in addresses):
            raise AddressRefusedError(f"{host} leads to an address that is not public")
        return addresses

    return look


def is_public(text: str) -> bool:
    """Whether an address, and any address that is written inside it, is one of the public network."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return all(one.is_global and not one.is_multicast for one in (address, *_embedded(address)))


def _embedded(address: Address) -> Iterator[Address]:
    if not isinstance(address, IPv6Address):
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in TRANSLATED):
        yield IPv4Address(int(address) & 0xFFFF_FFFF)
