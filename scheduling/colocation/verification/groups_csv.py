"""Rows of groups.csv, compared with the groups of the log."""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.colocation.verification.tolerance import near
from scheduling.verification.rules import Row

GROUP_COLUMNS = (
    "group", "start_ms", "end_ms", "servers", "jobs", "machines", "iteration_ms", "cpu_utilization", "net_utilization",
    "disk_ratios", "model_disk_ratios",
)  # fmt: skip


def check_rows(
    cluster: Row, jobs: Sequence[Row], history: Sequence[tuple[int, int, Row]], rows: Sequence[Row], problems: list[str]
) -> None:  # fmt: skip
    """Check that groups.csv agrees with the log."""
    names = [server["name"] for server in cluster["servers"]]
    expected = {}
    for start, end, data in history:
        texts = (
            " ".join(names[s] for s in data["servers"]), " ".join(jobs[j]["id"] for j in data["jobs"]),
            str(data["machines"]), data["iteration_ms"], data["cpu_utilization"], data["net_utilization"],
            *data["disk_ratios"], *data["model_disk_ratios"],
        )  # fmt: skip
        expected[str(data["group"]), str(start), str(end)] = texts
    for line, row in enumerate(rows, start=2):
        if not isinstance(row, dict) or any(not isinstance(row.get(column), str) for column in GROUP_COLUMNS):
            problems.append(f"groups.csv: line {line}: must have the columns {','.join(GROUP_COLUMNS)}")
            return
        key = (row["group"], row["start_ms"], row["end_ms"])
        right = expected.pop(key, None)
        if right is None:
            problems.append(
                f"groups.csv: line {line}: group {key[0]} from {key[1]} to {key[2]} ms is not in events.jsonl"
            )
            continue
        numbers = [_float(text) for text in (row["iteration_ms"], row["cpu_utilization"], row["net_utilization"])]
        numbers += [_float(text) for column in ("disk_ratios", "model_disk_ratios") for text in row[column].split()]
        same = (row["servers"], row["jobs"], row["machines"]) == right[:3] and len(numbers) == len(right) - 3
        if not same or not all(
            a == b or (a is not None and b is not None and near(a, b)) for a, b in zip(numbers, right[3:], strict=True)
        ):
            problems.append(f"groups.csv: line {line}: group {key[0]} differs from events.jsonl")
    for key in expected:
        problems.append(f"groups.csv: group {key[0]} from {key[1]} to {key[2]} ms is missing")


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
