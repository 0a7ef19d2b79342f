"""Files of named arrays (.npz) and the models trained into them: one way to read and write, one kind of error when damaged."""

import json
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
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


M = TypeVar("M")


def read_trained(file: Path, build: Callable[[dict[str, NDArray[Any]], dict[str, Any]], M]) -> M:
    """Build a trained model from its arrays and what it says about itself.

    Raises OSError or ValueError when the file is missing, damaged or of another kind.
    """
    arrays = read_arrays(file)
    try:
        return build(arrays, json.loads(str(arrays.pop("about"))))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file.name} is no such model: {error!r}") from error


def write_trained(file: Path, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write a trained model: half precision, compressed; `about` says what it was trained on."""
    stored = {
        name: np.asarray(values, dtype=np.float16 if "buckets" in name else np.float32) for name, values in arrays.items()
    }
    stored["about"] = np.array(json.dumps(about, ensure_ascii=False, sort_keys=True))
    np.savez_compressed(file, allow_pickle=False, **stored)
