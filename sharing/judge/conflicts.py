"""Which objects of a line must be kept apart, as a graph.  The only module that imports networkx.

Owns conflict graphs: vertices are actors, edges pairs that disturb each other.  Answers which objects to move so
that the fewest edits separate all of them.
"""

from __future__ import annotations

from collections.abc import Iterable


def fewest_to_move(names: Iterable[str], conflicts: Iterable[tuple[str, str, float]]) -> tuple[str, ...]:
    """A small set of objects whose removal from the line ends all conflicts, heaviest first.

    Greedy vertex cover by conflict weight, then by degree and name; lines hold at most a few dozen objects.
    A single conflict moves its first object, by convention the one that is written.
    """
    pairs = list(conflicts)
    if len(pairs) == 1:
        return (pairs[0][0],)
    # Loading networkx takes longer than all edits of most programs.
    graph: dict[str, dict[str, float]] = {name: {} for name in names}
    for a, b, weight in pairs:
        graph.setdefault(a, {})[b] = weight
        graph.setdefault(b, {})[a] = weight
    moved: list[str] = []
    while any(graph.values()):
        worst = max(sorted(graph), key=lambda name: (sum(graph[name].values()), len(graph[name])))
        moved.append(worst)
        for other in graph.pop(worst).keys() & graph.keys():
            del graph[other][worst]
    return tuple(moved)


def groups_apart(names: Iterable[str], conflicts: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Names in groups without a conflict inside, as few groups as a greedy colouring finds; largest first.

    Those of most conflicts are coloured first (Welsh and Powell 1967); names keep their order within a group.
    """
    import networkx as nx

    ordered = list(dict.fromkeys(names))
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(ordered)
    graph.add_edges_from((a, b) for a, b in conflicts if a != b)
    colours = nx.greedy_color(graph, strategy="largest_first")
    groups: dict[int, list[str]] = {}
    for name in ordered:
        groups.setdefault(colours[name], []).append(name)
    return tuple(tuple(group) for _, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))
