"""Rule that puts each node of a live cluster on a site, the edge or the cloud."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.values import ModelError
from twin.connectors.facts import NodeFact
from twin.mirror.nodes.pattern_cost import why_not

BY = ("queue", "name", "label")


@dataclass(frozen=True, slots=True)
class SiteRule(Parameters):
    """A node is at the edge where the pattern matches its queues, name or a label as key=value; else in the cloud."""

    edge_by: str = parameter(
        "queue", "What the pattern is compared with: the node's queues, its name or its labels (key=value)", choices=BY,
        title="Criterion for sites",
    )  # fmt: skip
    edge_pattern: str = parameter(
        "edge.*", "Regular expression that a node at the edge must match completely; empty: no node",
        title="Nodes at the edge",
    )  # fmt: skip

    def __post_init__(self) -> None:
        Parameters.__post_init__(self)
        if reason := why_not(self.edge_pattern):
            raise ModelError(f"edge_pattern {reason}")

    def site(self, node: NodeFact) -> str:
        """edge or cloud."""
        if not self.edge_pattern:
            return "cloud"
        texts = {
            "queue": node.queues,
            "name": (node.name,),
            "label": tuple(f"{key}={value}" for key, value in node.labels.items()),
        }[self.edge_by]
        return "edge" if any(re.fullmatch(self.edge_pattern, text) for text in texts) else "cloud"
