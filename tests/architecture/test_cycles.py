"""No module needs, by whatever way, one that needs it: not even for a type alone."""

from graphlib import CycleError, TopologicalSorter

import grimp


def test_there_is_no_import_cycle() -> None:
    """Late imports and those under TYPE_CHECKING count: what is needed to read a module is needed to change it."""
    graph = grimp.build_graph("clara", "clara_lab", cache_dir=None)
    needed = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        order = list(TopologicalSorter(needed).static_order())
    except CycleError as error:
        order = error.args[1]
    assert len(order) == len(graph.modules), " -> ".join(order)
