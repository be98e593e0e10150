"""Resources of running jobs by node, from `scontrol show job -d -o`: CPUs, memory and GPU indices.

The text holds names and commands that users chose. A job's own text can at worst hide what that job holds: what is
found counts only where it names exactly the nodes that squeue names, and a record that occurs twice is asked for alone.
"""

from __future__ import annotations

import re

from twin.connectors._slurm import amounts
from twin.connectors._slurm.hostlist import hosts, numbers
from twin.connectors.facts import ConnectorError, Share

RECORD = re.compile(
    r"^JobId=(\d+) (?:ArrayJobId=(\d+) ArrayTaskId=(\d+) |HetJobId=(\d+) HetJobOffset=(\d+) )?", re.MULTILINE
)
ON_NODES = re.compile(r"\sNodes=(\S+) CPU_IDs=(\S*) Mem=(\d+) GRES=(\S*)")
INDICES = re.compile(r"gpu(?::[^:,()]+)?:(\d+)\(IDX:([\d,-]+)\)")


def split_records(text: str) -> dict[str, str]:
    """The text of each job by key, of those that occur once."""
    begins = list(RECORD.finditer(text))
    ends = [match.start() for match in begins[1:]] + [len(text)]
    found: dict[str, str] = {}
    twice = set()
    for match, end in zip(begins, ends, strict=True):
        job, array, task, het, offset = match.groups()
        key = f"{array}_{task}" if array else f"{het}+{offset}" if het else job
        if key in found:
            twice.add(key)
        found[key] = text[match.start() : end]
    return {key: record for key, record in found.items() if key not in twice}


def read_shares(record: str, known: tuple[Share, ...]) -> tuple[Share, ...] | None:
    """Shares of a job on the nodes that are known; None where the record does not show exactly them.

    The record of a job that is just ending shows no GPUs any more: it says nothing about what the job held.
    """
    shares: dict[str, Share] = {}
    for expression, cpu_ids, memory, gres in ON_NODES.findall(record):
        try:
            gpu_ids = tuple(int(i) for _, ids in INDICES.findall(gres) if ids for i in numbers(ids, gres))
            cpus = len(numbers(cpu_ids, cpu_ids)) if cpu_ids else 0
            for name in hosts(expression):
                if name in shares:
                    return None
                shares[name] = Share(name, amounts.gpus(gres), cpus, int(memory), gpu_ids)
        except ConnectorError:
            return None
    if shares.keys() != {share.node for share in known}:
        return None
    if any(share.gpus for share in known) and not any(share.gpus for share in shares.values()):
        return None
    return tuple(shares[share.node] for share in known)
