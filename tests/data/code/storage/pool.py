"""A pool of connections to the database."""

from queue import Queue


class ConnectionPool:
    """Lends database connections, at most `size` at a time."""

    def __init__(self, connect, size: int) -> None:
        self._free: Queue = Queue()
        for _ in range(size):
            self._free.put(connect())

    def acquire(self):
        """Borrow a connection; wait until one is free."""
        return self._free.get()

    def release(self, connection) -> None:
        """Give a connection back."""
        self._free.put(connection)
