"""Data sets of the bench as Parquet, in a folder or on S3-compatible storage (extra `lab`)."""
