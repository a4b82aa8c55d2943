"""Trees, numbers and tuples laid out as the loops that cluster read them."""

from __future__ import annotations

import numpy as np

from kveil.kernels.clustering.layout import CostAttributes, CostLeaves, CostNodes, Costs, DistinctTuples
from naive.clusters import ClusterCase


def laid_out(case: ClusterCase) -> tuple[Costs, DistinctTuples]:
    """Return a case's trees, numbers and tuples as the loops read them."""
    nodes: list[list[int]] = []
    leaves: list[list[int]] = []
    attributes: list[list[int]] = []
    for own in case.attributes:
        attributes.append([own.tree is not None, len(leaves), own.full, own.missing])
        if own.tree is None:
            leaves += [[0, number, number] for number in own.numbers]
            continue
        tree, at = own.tree, len(nodes)
        leaves += [[at + node, 0, 0] for node in tree.leaf_nodes]
        nodes += [
            [at + tree.parent[node], tree.first[node], tree.last[node], own.node_cost(node)]
            for node in range(tree.nodes)
        ]
    costs = Costs(
        CostNodes(*np.array(nodes, dtype=np.int64).reshape(-1, 4).T.copy()),
        CostLeaves(*np.array(leaves, dtype=np.int64).reshape(-1, 3).T.copy()),
        CostAttributes(*np.array(attributes, dtype=np.int64).T.copy()),
    )
    low = np.array(case.low, dtype=np.int32)
    high = low if case.high == case.low else np.array(case.high, dtype=np.int32)
    return costs, DistinctTuples(low, high, np.cumsum([0, *case.rows]).astype(np.int64))
