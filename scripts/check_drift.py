"""Compare sources with what is served: the same as `clara drift`."""

from clara.cli import drift

drift(prog_name="check_drift.py")
