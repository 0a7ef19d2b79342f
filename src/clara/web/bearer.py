"""Who may read the figures of a running Clara: whoever has the token, of which only a digest is configured.

A token and its digest for CLARA_ADMIN_TOKEN_SHA256:

    python3 -c "import secrets,hashlib; t=secrets.token_urlsafe(32); print(t, hashlib.sha256(t.encode()).hexdigest())"
"""

import hashlib
import hmac

from flask import Response, request

SCHEME = "bearer"


def has_token(token_sha256: str) -> bool:
    """Whether the request carries, in its Authorization header, the token with this SHA-256 digest (64 hex digits)."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    given = hashlib.sha256(token.strip().encode("utf-8", "replace")).hexdigest()
    return hmac.compare_digest(given, token_sha256.lower()) and scheme.lower() == SCHEME


def refusal() -> Response:
    """Give the 401 that says how to ask."""
    refused = Response("This needs the header 'Authorization: Bearer <token>'.\n", 401, mimetype="text/plain")
    refused.headers["WWW-Authenticate"] = 'Bearer realm="clara"'
    return uncached(refused)


def uncached(response: Response) -> Response:
    """Forbid keeping the response: it is old at once, and not for everybody."""
    response.headers["Cache-Control"] = "no-store"
    return response
