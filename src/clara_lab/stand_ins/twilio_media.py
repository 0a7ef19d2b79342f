"""The stand-in's media: a message's voice note behind credentials, and the store that it leads to, without them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

MEDIUM: Final = re.compile(r"^/2010-04-01/Accounts/(AC[0-9a-f]{32})/Messages/((?:MM|SM)[0-9a-f]{32}/Media/ME[0-9a-f]{32})$")
STORE: Final = "/store/"


@dataclass(slots=True)
class Media:
    """What was recorded, by name, with its kind; `asked` are the paths that were asked for, and whether with credentials.

    `location` gives where a medium's address leads; by default to the store of the stand-in itself.
    """

    held: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, bool]] = field(default_factory=list)
    location: Callable[[str], str] = lambda name: f"{STORE}{name}"

    def answer(self, request: web.BaseRequest) -> web.Response | None:
        """Answer what is asked of media; None for anything else, and for what there is none of."""
        authorised = "Authorization" in request.headers
        medium = MEDIUM.match(request.path)
        if medium is not None and medium[2] not in self.held:
            return web.Response(status=404)
        if medium is not None:
            self.asked.append((request.path, authorised))
            target = self.location(medium[2])
            return web.Response(status=307, headers={"Location": self._absolute(request, target)})
        name = request.path.removeprefix(STORE)
        if request.path.startswith(STORE) and name in self.held:
            self.asked.append((request.path, authorised))
            kind, content = self.held[name]
            return web.Response(body=content, content_type=kind)
        return None

    @staticmethod
    def _absolute(request: web.BaseRequest, target: str) -> str:
        return f"http://{request.host}{target}" if re.match("/[^/]", target) else target
