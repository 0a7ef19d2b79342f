"""A part that is built on first use, once, however many threads ask at the same moment."""

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, Self, TypeVar, overload

Built = TypeVar("Built")


class Once(Generic[Built]):
    """A cached property with a lock: functools.cached_property builds one for each thread that asks at the same moment.

    A build that fails is tried again at the next use. Whoever assigns to the attribute puts another thing in its place.
    """

    def __init__(self, build: Callable[[Any], Built]) -> None:
        self._build = build
        self._name = ""
        self._lock = RLock()
        self.__doc__ = build.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Built: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Built:
        if instance is None:
            return self
        with self._lock:
            if self._name not in vars(instance):
                vars(instance)[self._name] = self._build(instance)
            built: Built = vars(instance)[self._name]
            return built
