"""Run an ingestion: the same as `clara ingest`."""

from clara.cli import ingest

ingest(prog_name="run_ingestion.py")
