"""AES-256-GCM under a key from the environment."""

import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from clara.delivery.ports import UnsealableError

VERSION: Final = b"\x01"
NONCE_BYTES: Final = 12  # drawn at random; NIST SP 800-38D bounds that to 2**32 messages a key
KEY_BYTES: Final = 32


class AesGcmSealer:
    """Implements delivery's Sealer. `secret` is any text of enough randomness; the key is derived from it."""

    def __init__(self, secret: str) -> None:
        derived = HKDF(SHA256(), KEY_BYTES, salt=None, info=b"clara: addresses in transit").derive(secret.encode())
        self._cipher = AESGCM(derived)

    def seal(self, plain: bytes, context: str) -> bytes:
        """Encrypt and authenticate; give version, nonce and ciphertext."""
        nonce = os.urandom(NONCE_BYTES)
        return VERSION + nonce + self._cipher.encrypt(nonce, plain, context.encode())

    def open(self, sealed: bytes, context: str) -> bytes:
        """Decrypt. Raises UnsealableError when the key, the context or a single bit is another."""
        version, nonce, ciphertext = sealed[:1], sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :]
        if version != VERSION:
            raise UnsealableError(f"sealed by another release (version {version.hex() or 'none'})")
        try:
            return self._cipher.decrypt(nonce, ciphertext, context.encode())
        except (InvalidTag, ValueError) as error:
            raise UnsealableError("sealed under another key, or damaged: is CLARA_ADDRESS_KEY the one it was?") from error
