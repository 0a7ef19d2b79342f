"""Watch the official gazette: the same as `clara boe`."""

from clara.cli import boe

boe(prog_name="check_boe.py")
