"""Run the evaluation: the same as `clara eval`."""

from clara.cli import evaluation

evaluation(prog_name="run_eval.py")
