"""What keeps running: the supervisor, the web, the worker, the schedule."""
