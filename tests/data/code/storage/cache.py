"""Remembering what was computed."""

from collections import OrderedDict


class LeastRecentlyUsed:
    """A cache of bounded size: what was not asked for longest is evicted first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict = OrderedDict()

    def get(self, key):
        """Give what is held under a key and count it as used; None when it is not held."""
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def put(self, key, value) -> None:
        """Hold a value; let the oldest go when there are too many."""
        self._held[key] = value
        if len(self._held) > self._most:
            self._held.popitem(last=False)
