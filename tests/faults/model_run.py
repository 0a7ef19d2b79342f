"""The model with more faults in one run than the suite has time for: `python -m tests.faults.model_run --faults 2`."""

import argparse
import sys

from tests.faults.model import Model
from tests.faults.model_exploring import explore
from tests.faults.model_state import World


def main() -> int:
    """Visit every state of each world; 1 when something does not hold."""
    options = argparse.ArgumentParser(description="Visit every state of the model of delivery.")
    options.add_argument("--faults", type=int, default=2, help="faults in one run, each at most once (default 2)")
    together = options.parse_args().faults
    broken = False
    for messages, parts in ((1, 1), (1, 2), (2, 1)):
        for alike in (True, False):
            result = explore(Model(world=World(messages, parts, together=together, alike=alike)))
            sys.stdout.write(f"{messages} x {parts} parts, {'alike' if alike else 'different'}: {result}\n")
            sys.stdout.flush()
            broken |= result.broken is not None
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
