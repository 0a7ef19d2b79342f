"""Jobs that run by themselves."""


def next_run(now: float, every: float, last: float | None) -> float:
    """Say when a repeating job is due next; a missed one is due at once."""
    return now if last is None else max(now, last + every)


def report_error(job: str, error: Exception) -> str:
    """Write down that a scheduled job failed, with the kind of the error."""
    return f"{job}: {type(error).__name__}"
