"""The two ends of a conversation at rest: they open for their own message and under their own key only."""

import pytest

from clara.adapters.aes_gcm import AesGcmSealer
from clara.delivery.message import Incoming
from clara.delivery.ports import UnsealableError
from clara.delivery.records import open_address, seal_address

KEY, OTHER = "8f3a1c5be0d24976" * 4, "91d0b7e6a3c85f24" * 4
INCOMING = Incoming("SM1", "whatsapp", "whatsapp:+34600000001", "whatsapp:+15555550100", "NIE")


@pytest.mark.parametrize("sender", [INCOMING.sender, "whatsapp:US.1234", "", "whatsapp:+\ud800 \x00\"'"])
def test_what_was_sealed_opens(sender: str) -> None:
    """Whatever the channel calls a person comes back as it was."""
    sealer = AesGcmSealer(KEY)
    incoming = Incoming("SM1", "whatsapp", sender, INCOMING.recipient, None)
    assert open_address(seal_address(incoming, sealer), "SM1", sealer) == (sender, INCOMING.recipient)


@pytest.mark.parametrize(("key", "sid"), [(OTHER, "SM1"), (KEY, "SM2"), (KEY, "")], ids=["key", "message", "no-message"])
def test_it_opens_nowhere_else(key: str, sid: str) -> None:
    """Not under another key, and not in the row of another message, where somebody could have copied it to."""
    with pytest.raises(UnsealableError, match="CLARA_ADDRESS_KEY"):
        open_address(seal_address(INCOMING, AesGcmSealer(KEY)), sid, AesGcmSealer(key))


@pytest.mark.parametrize("plain", [b"", b"no json", b'["a"]', b"\xff\xfe", b"{}"])
def test_what_is_no_address_is_refused(plain: bytes) -> None:
    """Something else that was sealed for this message is no address."""
    sealer = AesGcmSealer(KEY)
    with pytest.raises(UnsealableError):
        open_address(sealer.seal(plain, "address of SM1"), "SM1", sealer)
