"""Checks of the groups at one time: servers, times (Eq. 1 to 3), memory, and claimed utilization (Eq. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduling.colocation.verification.job_facts import facts_of
from scheduling.colocation.verification.machines import NIC, is_away, nic_gbps, powers
from scheduling.colocation.verification.tolerance import CLOSE, near
from scheduling.model.bars import COUNT, END, GROUP, START
from scheduling.verification.rules import Row

HEAP, WORK_SET, USABLE, DYING = 1.5, 0.05, 0.85, 1.15
LISTS = (
    "disk_ratios", "model_disk_ratios", "comp_ms", "comm_ms", "pace_ms", "ready_ms", "profiling", "memory_gb",
)  # of a group, in the order of its jobs  # fmt: skip


class GroupChecks:
    """Present groups and bars, with one method per check."""

    def __init__(
        self, cluster: Row, jobs: Sequence[Row], parameters: Row, problems: list[str], *, fills: bool = False
    ) -> None:
        self.servers, self.jobs, self.problems = cluster["servers"], jobs, problems
        self.parameters, self.fills = parameters, fills
        # jobs resubmitted with their remaining work: their records differ from the files
        self.shortened: set[int] = set()
        self.groups: dict[int, Row] = {}
        self.bars: dict[int, list[Any]] = {}  # job -> its present bar
        self.over: set[int] = set()

    def check_disjoint(self, at_ms: int) -> None:
        """Check that groups share no server and no job, and that every bar of a group belongs to one of its jobs."""
        for what, names in (("servers", [s["name"] for s in self.servers]), ("jobs", [job["id"] for job in self.jobs])):
            seen: dict[int, int] = {}
            for id_, data in self.groups.items():
                for member in data[what]:
                    if member in seen:
                        self.problems.append(
                            f"groups {seen[member]} and {id_} both hold {what[:-1]} {names[member]} from {at_ms} ms on"
                        )
                    seen[member] = id_
        for job, bar in self.bars.items():
            if job in self.over or not bar or not bar[START] <= at_ms < bar[END]:
                continue
            held = self.groups.get(bar[GROUP])
            if held is None or job not in held["jobs"]:
                self.problems.append(
                    f"job {self.id_of(job)}: its bar is in group {bar[GROUP]}, which does not contain it at {at_ms} ms"
                )
        if self.fills and self.groups:
            used = {s for data in self.groups.values() for s in data["servers"]}
            idle = [
                self.servers[i]["name"] for here in self._pools() if used & set(here)
                for i in here if i not in used and not is_away(self.servers[i], at_ms)
            ]  # fmt: skip
            if idle:
                self.problems.append(
                    f"{len(idle):,} servers are idle while jobs run from {at_ms} ms on, {idle[0]} among them"
                )

    def check_group(self, at: str, at_ms: int, data: Row) -> None:
        """Check of one group that has changed."""
        name = f"{at}: group {data['group']}"
        for server in data["servers"]:
            if "worker" not in self.servers[server]["roles"] or is_away(self.servers[server], at_ms):
                self.problems.append(f"{name}: server {server} cannot hold jobs at {at_ms} ms")
                return
        for job in data["jobs"]:
            bar = self.bars.get(job)
            if job in self.over or bar is None:
                self.problems.append(f"{name}: job {self.id_of(job)} has no plan")
                return
            ends = bar and bar[END] <= at_ms
            if bar and not ends and (bar[GROUP] != data["group"] or bar[COUNT] != data["machines"]):
                self.problems.append(
                    f"{name}: the bar of job {self.id_of(job)} states group {bar[GROUP]} on {bar[COUNT]} machines"
                )
            if facts_of(self.jobs[job]) is None:
                self.problems.append(f"{name}: job {self.id_of(job)} has no computation and communication times")
                return
        if any(data["profiling"]) and (
            self.parameters.get("profiling") != "online" or not set(data["profiling"]) <= {0, 1}
        ):
            self.problems.append(f"{name}: profiles jobs, but this scheduler does not")
        if any(not 0 <= ratio <= 1 for key in LISTS[:2] for ratio in data[key]):
            self.problems.append(f"{name}: a disk ratio is not a share from 0 to 1")
        self._check_times(name, data)
        self._check_memory(name, data)

    def _check_times(self, name: str, data: Row) -> None:
        """Eq. (1) to (3), and paces that are no faster."""
        comp, comm, busy = self._times(data)
        alone = max(c + n for c, n in zip(comp, comm, strict=True))
        period = max(sum(comp), sum(comm), alone, 1e-6)
        coordinated = data["iteration_ms"] is not None
        wanted = {"comp_ms": comp, "comm_ms": comm}
        if coordinated:
            wanted |= {
                "iteration_ms": [period],
                "cpu_utilization": [sum(busy) / period],
                "net_utilization": [sum(comm) / period],
            }
        else:
            pairs = list(zip(busy, comm, data["pace_ms"], strict=True))
            wanted |= {
                "cpu_utilization": [sum(c / p for c, _, p in pairs)],
                "net_utilization": [sum(n / p for _, n, p in pairs)],
            }
        for key, values in wanted.items():
            stated = data[key] if isinstance(data[key], list) else [data[key]]
            for value, right in zip(stated, values, strict=True):
                if not near(value, right):
                    self.problems.append(f"{name}: {key} is {value!r}, recomputed {right!r}")
        floor = period if coordinated else None
        for job, c, n, pace in zip(data["jobs"], comp, comm, data["pace_ms"], strict=True):
            if pace < (floor if floor is not None else c + n) * (1 - CLOSE):
                self.problems.append(
                    f"{name}: job {self.id_of(job)} iterates in {pace!r} ms, which is faster than its group allows"
                )

    def _times(self, data: Row) -> tuple[list[float], list[float], list[float]]:
        """Eq. (2), and the mean computation of a machine; of jobs that a hand-over has shortened the stated times."""
        machines = [self.servers[s] for s in data["servers"]]
        nic = min(nic_gbps(s) for s in machines)
        comp, comm, busy = [], [], []
        for job, stated_comp, stated_comm in zip(data["jobs"], data["comp_ms"], data["comm_ms"], strict=True):
            known = facts_of(self.jobs[job])
            assert known is not None
            total, used = powers(known["demand"], known["most"], machines)
            shortened = job in self.shortened
            comp.append(stated_comp if shortened else known["comp"] / used)
            comm.append(stated_comm if shortened else known["comm"] * NIC / nic)
            busy.append(comp[-1] * used / total)
        return comp, comm, busy

    def _check_memory(self, name: str, data: Row) -> None:
        usable = USABLE * min((self.servers[s]["capacity"] or {}).get("memory") or 0 for s in data["servers"])
        count = len(data["servers"])
        facts = [facts_of(self.jobs[job]) or {} for job in data["jobs"]]
        ratios = list(zip(facts, data["disk_ratios"], data["model_disk_ratios"], strict=True))
        held = sum((1 - a) * f["input"] + (1 - b) * f["model"] for f, a, b in ratios)
        work = max(f["input"] * (a > 0) + f["model"] for f, a, _ in ratios)
        filled = HEAP * (held + WORK_SET * work) / count
        if usable and not near(data["memory_used"], filled / usable):
            self.problems.append(f"{name}: memory_used is {data['memory_used']!r}, recomputed {filled / usable!r}")
        for (f, a, b), stated in zip(ratios, data["memory_gb"], strict=True):
            right = HEAP * ((1 - a) * f["input"] + (1 - b) * f["model"]) / count
            if not near(stated, right):
                self.problems.append(f"{name}: memory_gb is {stated!r}, recomputed {right!r}")
        if self.parameters.get("forced"):
            return
        most = usable * (DYING if self.parameters.get("memory") == "fixed" else 1)
        if filled > most * (1 + CLOSE) + 1e-9 and not (
            self.parameters.get("memory") == "fixed" and len(data["jobs"]) == 1
        ):
            self.problems.append(f"{name}: its jobs use {filled:.4g} GB of each machine, of {most:.4g}")

    def _pools(self) -> list[list[int]]:
        """The servers of each site that take workers, the edge first; of the cloud as many as may be used."""
        most = self.parameters.get("cloud_pool")
        most = max(0, most) if isinstance(most, int) else None
        found = [
            [i for i, s in enumerate(self.servers) if (s.get("site") or "edge") == site and "worker" in s["roles"]][
                :cap
            ]
            for site, cap in (("edge", None), ("cloud", most))
        ]
        return [here for here in found if here]

    def check_claim(self, at: str, at_ms: int, data: Row) -> None:
        """Utilization by Eq. (4) over the available servers of a site."""
        pools = self._pools()
        if data["site"] >= len(pools):
            self.problems.append(f"{at}: site {data['site']} of {len(pools)}")
            return
        here = pools[data["site"]]
        present = sum(not is_away(self.servers[i], at_ms) for i in here)
        for part, key in enumerate(("cpu_utilization", "net_utilization")):
            total = sum(g["machines"] * g[key] for g in self.groups.values() if set(g["servers"]) <= set(here))
            if not near(data["after"][part], total / max(1, present)):
                self.problems.append(
                    f"{at}: states a {key} of {data['after'][part]!r}, recomputed {total / max(1, present)!r}"
                )

    def id_of(self, job: int) -> str:
        """Id of a job; its index if there is no such job."""
        return str(self.jobs[job]["id"]) if job < len(self.jobs) else str(job)
