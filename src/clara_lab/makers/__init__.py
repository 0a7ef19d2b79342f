"""What makes the files that a release carries: vectors, calibration, cases of suites, the table of settings."""
