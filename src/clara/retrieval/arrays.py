"""Files of named arrays (.npz): one way to read them, and one kind of error when they are damaged."""

import zlib
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

# What zipfile raises on archives with wrong bytes, RuntimeError where they look encrypted or compressed in another way.
DAMAGES = (BadZipFile, EOFError, RuntimeError, ValueError, zlib.error)


def read_arrays(file: Path) -> dict[str, NDArray[Any]]:
    """Read every array of a file. Raises OSError when it cannot be read, ValueError when it is damaged or something else.

    Each array is read whole before it is understood, so that its checksum is compared first: NumPy, which reads as it goes,
    fails in a dozen ways on a damaged header.
    """
    try:
        with ZipFile(file) as archive:
            contents = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
        return {name: np.lib.format.read_array(BytesIO(content), allow_pickle=False) for name, content in contents.items()}
    except DAMAGES as error:
        raise ValueError(f"{file.name} is damaged: {error!r}") from error
