"""What was written whole into a spool file is found again, whatever happened around it."""

from hypothesis import given
from hypothesis import strategies as st

from clara.adapters.spool.files import MAGIC, framed, stretches

RECORDS = [b"one", b"", MAGIC * 3, b"four" * 20]
FRAMES = [framed(record) for record in RECORDS]
WHOLE = b"".join(FRAMES)


def records(data: bytes) -> list[bytes]:
    return [part.record for part in stretches(data) if part.record is not None]


def test_every_cut_leaves_the_frames_before_it():
    """At whatever byte a file ends, the records before it are read, and the rest is one stretch without a record."""
    ends = [len(b"".join(FRAMES[: number + 1])) for number in range(len(FRAMES))]
    for cut in range(len(WHOLE) + 1):
        parts = list(stretches(WHOLE[:cut]))
        whole = [part for part in parts if part.record is not None]
        assert [part.record for part in whole] == RECORDS[: sum(end <= cut for end in ends)]
        assert [(part.start, part.end) for part in parts[len(whole) :]] == (
            [] if cut in {0, *ends} else [(whole[-1].end if whole else 0, cut)]
        )


def test_every_flipped_bit_costs_one_record():
    """One wrong bit anywhere hides at most the record it is in, and invents none."""
    ends = [len(b"".join(FRAMES[: number + 1])) for number in range(len(FRAMES))]
    for at in range(len(WHOLE)):
        hit = sum(end <= at for end in ends)
        for bit in range(8):
            damaged = bytearray(WHOLE)
            damaged[at] ^= 1 << bit
            assert records(bytes(damaged)) == RECORDS[:hit] + RECORDS[hit + 1 :]


def test_zeros_after_a_power_cut_are_no_record():
    """A file whose length reached the disk before its bytes gives what is there, and nothing else."""
    for kept in range(len(FRAMES[0]) + 1):
        ghost = FRAMES[3] + FRAMES[0][:kept] + bytes(100)
        assert records(ghost) == [RECORDS[3]] + [RECORDS[0]] * (kept == len(FRAMES[0]))


@given(st.lists(st.tuples(st.binary(max_size=40), st.binary(max_size=20) | st.just(MAGIC + bytes(9)))))
def test_rubbish_between_frames_hides_none(mixed: list[tuple[bytes, bytes]]):
    """Whatever lies between them, all the frames are found, and every byte is accounted for."""
    data = b"".join(rubbish + framed(record) for record, rubbish in mixed)
    parts = list(stretches(data))
    assert [part.record for part in parts if part.record is not None] == [record for record, _ in mixed]
    assert [part.start for part in parts] == [0, *(part.end for part in parts)][: len(parts)]
    assert sum(part.end - part.start for part in parts) == len(data)
