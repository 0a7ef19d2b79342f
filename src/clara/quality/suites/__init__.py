"""The suites of the evaluation of answers: one file a suite, each running real code over eval/answers."""
