"""Encryption at rest: nothing readable, nothing repeated, nothing altered without its being noticed."""

import pytest

from clara.adapters.aes_gcm import NONCE_BYTES, AesGcmSealer
from clara.delivery.ports import UnsealableError

KEY, OTHER = "8f3a1c5be0d24976" * 4, "91d0b7e6a3c85f24" * 4
PLAIN = b"whatsapp:+34600000001"


def test_the_same_seals_differently_each_time() -> None:
    """Nobody sees that two rows hold the same; both open, in another process of the same key too."""
    sealed = [AesGcmSealer(KEY).seal(PLAIN, "c") for _ in range(100)]
    assert len({each[1 : 1 + NONCE_BYTES] for each in sealed}) == 100
    assert {AesGcmSealer(KEY).open(each, "c") for each in sealed} == {PLAIN}
    assert not [each for each in sealed if b"346" in each]


def test_every_bit_counts() -> None:
    """Whichever bit is turned over, and wherever it is cut off, it does not open."""
    sealer = AesGcmSealer(KEY)
    sealed = sealer.seal(PLAIN, "c")
    altered = [
        sealed[:place] + bytes([sealed[place] ^ 1 << bit]) + sealed[place + 1 :]
        for place in range(len(sealed))
        for bit in range(8)
    ]
    for wrong in [*altered, *(sealed[:end] for end in range(len(sealed))), sealed + b"\0", b""]:
        with pytest.raises(UnsealableError):
            sealer.open(wrong, "c")


@pytest.mark.parametrize(("key", "context"), [(OTHER, "c"), (KEY, "d"), (KEY + "0", "c")], ids=["key", "context", "longer-key"])
def test_only_the_right_key_and_context_open(key: str, context: str) -> None:
    """The message names the remedy and none of the keys."""
    sealed = AesGcmSealer(KEY).seal(PLAIN, "c")
    with pytest.raises(UnsealableError, match="is CLARA_ADDRESS_KEY the one it was") as raised:
        AesGcmSealer(key).open(sealed, context)
    assert key not in str(raised.value)


def test_another_release_s_version_is_named() -> None:
    """What a later release sealed in another way is not mistaken for damage."""
    sealed = AesGcmSealer(KEY).seal(PLAIN, "c")
    with pytest.raises(UnsealableError, match=r"another release \(version 02\)"):
        AesGcmSealer(KEY).open(b"\x02" + sealed[1:], "c")


def test_what_was_sealed_before_still_opens() -> None:
    """The form and the derivation of the key are a promise to the rows that exist."""
    sealed = bytes.fromhex(
        "01b2498cf444bbd1c51c8056efe18c5b5f02eafb78e329dc40aa453c68857212f4cc0b48327bd5ec06a30e5f26b32b3cb94f"
    )
    assert AesGcmSealer(KEY).open(sealed, "address of SM1") == PLAIN
