"""Passwords are kept as salted hashes."""

import hashlib
import os


def hash_password(password: str) -> str:
    """Derive what is stored from a password, with a salt of its own."""
    salt = os.urandom(16)
    return salt.hex() + hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1).hex()


def validate_credentials(stored: str, password: str) -> bool:
    """Check the password that a user typed against what is stored of it."""
    salt = bytes.fromhex(stored[:32])
    return stored[32:] == hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1).hex()
