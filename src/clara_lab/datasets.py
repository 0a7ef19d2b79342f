"""Data sets of the bench in Parquet, which needs an optional library: without it, one error says what to install."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clara_lab.bench.dataset import BenchData, BenchDataError

if TYPE_CHECKING:
    from clara_lab.bench.plan import RunPlan


@contextmanager
def _installed() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        raise BenchDataError("Parquet and S3 need pyarrow; run `pip install 'clara-tramites[lab]'`") from error


def read_parquet(name: str, folder: Path) -> BenchData:
    """Read a data set from a folder. Raises BenchDataError."""
    with _installed():
        from clara_lab.parquet.files import read_folder
    return read_folder(name, folder)


def read_stored(plan: "RunPlan", cache: Path) -> BenchData:
    """Read the data set of a plan from its S3-compatible storage, through a local cache. Raises BenchDataError."""
    with _installed():
        from clara_lab.parquet.files import read_store
        from clara_lab.parquet.storage import ObjectStore
    keys = plan.minio_access_key.get_secret_value(), plan.minio_secret_key.get_secret_value()
    store = ObjectStore(plan.minio_endpoint, plan.minio_bucket_name, *keys)
    return read_store(plan.mteb_dataset_name, store, plan.s3_datasets_prefix, cache)


def pack(data: BenchData, target: str, plan: "RunPlan", *, overwrite: bool) -> str:
    """Write a data set as Parquet into a folder, or with s3://BUCKET/PREFIX into the plan's storage; give where it is.

    Raises BenchDataError.
    """
    with _installed():
        from clara_lab.parquet.files import write
        from clara_lab.parquet.storage import DatasetLocation, ObjectStore
    place = DatasetLocation(target)
    if target.startswith("s3://"):
        bucket, _, prefix = target.removeprefix("s3://").partition("/")
        keys = plan.minio_access_key.get_secret_value(), plan.minio_secret_key.get_secret_value()
        place = DatasetLocation(prefix, ObjectStore(plan.minio_endpoint, bucket, *keys))
    write(data, place, overwrite=overwrite)
    return str(place)
