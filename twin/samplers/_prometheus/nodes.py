"""Names of nodes in the labels of series: the host, an address with a port, or a name with its domain."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

PORT = re.compile(r":\d+$")


class Names:
    """Nodes of the cluster by the names in series; `strangers` are names that belong to none of them."""

    def __init__(self, nodes: Collection[str], labels: Sequence[str]) -> None:
        self.labels = labels
        self.exact = set(nodes)
        self.strangers: set[str] = set()
        short: dict[str, list[str]] = {}
        for name in nodes:
            short.setdefault(name.partition(".")[0].lower(), []).append(name)
        self.short = {name: same[0] for name, same in short.items() if len(same) == 1}

    def node(self, labels: Mapping[str, str]) -> str | None:
        """The node; None for a series of something else."""
        names = [str(labels[label]) for label in self.labels if labels.get(label)]
        for name in names:
            host = PORT.sub("", name).strip("[]")
            if host in self.exact:
                return host
            if not host.replace(".", "").isdigit() and (found := self.short.get(host.partition(".")[0].lower())):
                return found
        if names:
            self.strangers.add(names[0])
        return None
