"""Documents of Slurm's plugin jobcomp/elasticsearch: one for each job that ended (or each end of it that was requeued).

Only the fields named in `read` are read: the job's script, its folders, paths and comments are never stored.
Times are in UTC without a zone, the time limit is in seconds, and GPUs are stated only where AccountingStorageTRES
names gres/gpu.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from twin.connectors.facts import CANCELLED, COMPLETED, FAILED, NODE_FAIL, OUT_OF_MEMORY, PREEMPTED, REQUEUED, TIMEOUT
from twin.push.events import PushedFact, digest_of, made
from twin.push.vocabulary import MAX_SHARES, MAX_TEXT, EventError

TITLE = "Slurm jobcomp/elasticsearch"
MEDIA_TYPES: tuple[str, ...] = ()
OUTCOMES = {
    "COMPLETED": COMPLETED, "FAILED": FAILED, "CANCELLED": CANCELLED, "TIMEOUT": TIMEOUT, "NODE_FAIL": NODE_FAIL,
    "OUT_OF_MEMORY": OUT_OF_MEMORY, "PREEMPTED": PREEMPTED, "REQUEUED": REQUEUED, "BOOT_FAIL": NODE_FAIL,
    "DEADLINE": TIMEOUT,
}  # fmt: skip
NO_LIMIT_S = 365 * 86_400  # Slurm's name for it in this plugin
SCALES = {"": 1 / 2**20, "K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}  # of a memory in MiB


def fits(item: dict[str, Any]) -> bool:
    """True if the object is such a document."""
    return {"jobid", "state", "@submit", "@end"} <= item.keys()


def read(item: dict[str, Any], now_ms: int) -> list[PushedFact]:
    """The statement that the job ended, or that it was requeued."""
    submitted_ms, ended_ms = _unix_ms(item, "@submit"), _unix_ms(item, "@end")
    state = str(item["state"]).split(" ")[0]
    if state not in OUTCOMES:
        raise EventError(f"state must be one of {', '.join(OUTCOMES)}, got {state[:60]!r}")
    key = _key(item)
    held, asked = _amounts(item.get("tres_alloc")), _amounts(item.get("tres_req"))
    names = host_list(str(item.get("nodes") or ""))
    limit_s = item.get("time_limit")
    data: dict[str, Any] = {
        "submitted_ms": submitted_ms,
        "nodes": asked.get("node") or len(names) or 1,
        "gpus": asked.get("gpu", 0), "cpus": asked.get("cpu", 0), "memory_mb": asked.get("mem", 0),
        "limit_ms": int(limit_s) * 1_000 if isinstance(limit_s, int | float) and 0 < limit_s < NO_LIMIT_S else None,
        "queue": _text(item, "partition"), "user": _text(item, "username"), "account": _text(item, "account"),
        "depends_on": _text(item, "orig_dependency"), "reservation": _text(item, "reservation_name"),
        "gang": f"{item['het_job_id']}+0" if item.get("het_job_id") else None,
    }  # fmt: skip
    outcome = OUTCOMES[state]
    attempts = []
    if names:
        shares = [dict(zip(("node", "gpus", "cpus", "memory_mb"), row, strict=True)) for row in _shares(names, held)]
        started_ms = _unix_ms(item, "@start")
        attempts = [
            {"started_ms": started_ms, "ended_ms": max(ended_ms, started_ms), "shares": shares, "outcome": outcome}
        ]
    data |= {"attempts": attempts, "state": "waiting" if outcome == REQUEUED else "ended"}
    if outcome != REQUEUED:
        data |= {"outcome": outcome, "ended_ms": ended_ms}
    digest = digest_of(TITLE, str(item.get("cluster", "")), key, str(item["@submit"]), str(item["@end"]), state)
    return [made("job.stated", key, ended_ms, digest, data, now_ms)]


def host_list(text: str) -> list[str]:
    """The names that an expression such as edge[1-3,07-09],login stands for."""
    names: list[str] = []
    for word in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", text):
        found = [""]
        for plain, ranges in re.findall(r"([^\[\]]+)|\[([^\]]*)\]", word):
            ends = [plain] if plain else [number for part in ranges.split(",") for number in _range(part)]
            if len(found) * len(ends) > MAX_SHARES:
                raise EventError(f"nodes stands for more than {MAX_SHARES:,} names: {text[:60]!r}")
            found = [name + end for name in found for end in ends]
        names += found
    return names


def _range(part: str) -> list[str]:
    first, _, last = part.partition("-")
    if not first.isdigit() or not (last or first).isdigit() or int(last or first) - int(first) >= MAX_SHARES:
        raise EventError(f"nodes has a range that cannot be read: {part[:60]!r}")
    return [str(number).zfill(len(first)) for number in range(int(first), int(last or first) + 1)]


def _key(item: dict[str, Any]) -> str:
    """The name that squeue prints: 54_1 of an array, 55+0 of a heterogeneous job."""
    if item.get("array_task_id") is not None:
        return f"{item.get('array_job_id')}_{item['array_task_id']}"
    if item.get("het_job_id"):
        return f"{item['het_job_id']}+{item.get('het_job_offset', 0)}"
    return str(item["jobid"])


def _amounts(text: Any) -> dict[str, int]:
    """{cpu, mem in MiB, node, gpu} of cpu=4,mem=2000M,node=1,gres/gpu=2,gres/gpu:a100=2"""
    found: dict[str, int] = {}
    for name, number, unit in re.findall(r"([\w/]+)=(\d+(?:\.\d+)?)([KMGTP]?)", str(text or "")[:2_000]):
        scale = SCALES[unit or "M"] if name == "mem" else 1
        found[name.removeprefix("gres/")] = int(float(number) * scale)
    return found


def _shares(names: list[str], held: dict[str, int]) -> list[tuple[str, int, int, int]]:
    """(node, gpus, cpus, memory) with the totals shared out as evenly as whole numbers allow."""
    columns = [_parts(held.get(name, 0), len(names)) for name in ("gpu", "cpu", "mem")]
    return list(zip(names, *columns, strict=True))


def _parts(total: int, count: int) -> list[int]:
    return [total // count + (index < total % count) for index in range(count)]


def _text(item: dict[str, Any], name: str) -> str:
    text = str(item.get(name) or "")[:MAX_TEXT]
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _unix_ms(item: dict[str, Any], name: str) -> int:
    try:
        moment = datetime.fromisoformat(item[name])
    except (KeyError, TypeError, ValueError):
        raise EventError(
            f"{name} must be a time such as 2026-05-04T10:00:00, got {str(item.get(name))[:60]!r}"
        ) from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000)
