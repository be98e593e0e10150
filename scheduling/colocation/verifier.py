"""Verifier of groups of jobs that share machines, in the log and in groups.csv, from plain rows alone.

Recomputed here, with code of its own: the times of each job on the machines of its group (Eq. 2), the time of an
iteration (Eq. 1), utilization (Eq. 3 and 4), memory on each machine, and the iterations that a job has made when it
completes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduling.verification.replay import NOWHERE
from scheduling.verification.rules import Output, Row, Rules, Stage
from scheduling.verification.schema import boolean

GROUP_COLUMNS = (
    "group", "start_ms", "end_ms", "servers", "jobs", "machines", "iteration_ms", "cpu_utilization", "net_utilization",
    "disk_ratios", "model_disk_ratios",
)  # fmt: skip
CLOSE = 1e-6  # relative, of figures that are recomputed
NIC, DISK = 1.1, 1.2  # Gbps of a server that names none; that of the first is the reference of comm_ms
HEAP, WORK_SET, USABLE, DYING = 1.5, 0.05, 0.85, 1.15
CHUNKS = ("epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb")
SAMPLES = (
    "epochs",
    "num_samples",
    "global_batch",
    "sample_ms",
    "gradient_mb",
    "workers_per_ps",
    "internal_gbps",
    "external_gbps",
)
LISTS = (
    "disk_ratios", "model_disk_ratios", "comp_ms", "comm_ms", "pace_ms", "ready_ms", "profiling", "memory_gb",
)  # of a group, in the order of its jobs  # fmt: skip
NATIVE = ("comp_machine_ms", "comm_ms", "iterations")


class ColocationRules(Rules):
    """Groups of jobs on machines of their own, with the times, memory and iterations that follow."""

    name = "colocation"
    states = {"fills": boolean}
    part = "groups"
    files = ("groups.csv",)

    def check(self, given: Output, problems: list[str]) -> None:
        if not problems:  # groups of a log that contradicts itself are not followed
            rows, parameters = given.more.get("groups"), given.summary["parameters"]
            _check_groups(given.cluster, given.jobs, given.log, parameters, given.execution["fills"], rows, problems)

    def figures(self, given: Output) -> dict[str, Any] | None:
        return _figures(given.cluster, given.jobs, given.log, given.done)

    def check_stage(
        self, stage: Stage, jobs: Sequence[Row], bars: Sequence[Sequence[int]], problems: list[str]
    ) -> None:
        for job, _, server, start_ms, end_ms, _, _, _, group in bars:
            if group < 0 or server != NOWHERE:
                problems.append(
                    f"job {jobs[job]['id']}: from {start_ms} to {end_ms} ms: is in "
                    "no group, but co-located jobs must be"
                )

    def check_phases(
        self, stages: Sequence[Stage], jobs: Sequence[Row], log: Sequence[Row], problems: list[str]
    ) -> None:
        watch = _Watch(stages[0].cluster, jobs, log[0]["data"]["parameters"], problems)
        watch.enter(stages[0], log[0]["data"]["parameters"])
        following = iter(stages[1:])
        for at, at_ms, event in _instants(watch, log):
            if event["kind"] == "edited":
                watch.settle(at_ms)
                watch.hand_over(event["data"])
                watch.enter(next(following), event["data"]["parameters"])
            else:
                watch.take(at, at_ms, event)

    def share_done(self, stage: Stage, job: Row, bars: Sequence[Sequence[int]]) -> float | None:
        return None  # by the iterations in group events, not by bars


def _check_groups(
    cluster: Row, jobs: Sequence[Row], log: Iterable[Row], parameters: Row, fills: bool, rows: Sequence[Row] | None,
    problems: list[str],
) -> None:  # fmt: skip
    """Check of the groups.

    fills: no machine of a site is idle while jobs run there; rows: of groups.csv, None without such a file.
    """
    watch = _Watch(cluster, jobs, parameters, problems, fills=fills)
    last_ms = 0
    for at, last_ms, event in _instants(watch, log):
        watch.take(at, last_ms, event)
    if rows is not None:
        _check_rows(cluster, jobs, watch.history(last_ms), rows, problems)


def _instants(watch: _Watch, log: Iterable[Row]) -> Iterator[tuple[str, int, Row]]:
    """Events as (line, time, event); at the end of each instant the replay is settled."""
    last_ms = 0
    for event in log:
        if event["at_ms"] != last_ms:
            watch.settle(last_ms)
            last_ms = event["at_ms"]
        yield f"events.jsonl: line {event['seq']}", last_ms, event
    watch.settle(last_ms)


def _figures(
    cluster: Row, jobs: Sequence[Row], log: Iterable[Row], done: Mapping[str, int]
) -> dict[str, float | None] | None:
    """The part `groups` of the metrics, swept instant by instant; None without group events."""
    first_ms = min((job["arrival_ms"] for job in jobs), default=0)
    last_ms = max(done.values(), default=first_ms)
    present: dict[int, Row] = {}
    sums = {"cpu_utilization": 0.0, "net_utilization": 0.0, "mean_jobs": 0.0, "mean_groups": 0.0, "machines": 0.0}
    counts = {"regroupings": 0, "moves": 0}
    reached, stated = first_ms, False
    for event in log:
        until = min(event["at_ms"], last_ms)
        if until > reached:
            for data in present.values():
                width = until - reached
                for name in ("cpu_utilization", "net_utilization"):
                    sums[name] += data[name] * data["machines"] * width / max(1, len(cluster["servers"]))
                sums["mean_jobs"] += len(data["jobs"]) * width
                sums["mean_groups"] += width
                sums["machines"] += data["machines"] * width
            reached = until
        if event["kind"] == "grouped":
            stated = True
            present[event["data"]["group"]] = event["data"]
            if not event["data"]["jobs"]:
                del present[event["data"]["group"]]
        counts["regroupings"] += event["kind"] == "regrouped"
        counts["moves"] += event["kind"] == "decided" and event["data"]["kind"] == "moved"
    if not stated:
        return None
    machines, stood = sums.pop("machines"), sums["mean_groups"]
    means = {name: value / max(1, last_ms - first_ms) for name, value in sums.items()}
    return {**means, "mean_parallelism": machines / stood if stood else None, **counts}


class _Watch:
    """Replay of the groups, with one method per event type and `settle` at the end of an instant.

    In a run of several phases, `hand_over` and `enter` follow the change from one to the next.
    """

    def __init__(
        self, cluster: Row, jobs: Sequence[Row], parameters: Row, problems: list[str], *, fills: bool = False
    ) -> None:
        self.servers, self.jobs, self.problems = cluster["servers"], jobs, problems
        self.parameters, self.fills = parameters, fills
        self.grouping = True  # the current phase is of this model
        self.planned: set[int] = set()  # jobs that have had a plan
        # jobs resubmitted with their remaining work: their records differ from the files
        self.shortened: set[int] = set()
        self.groups: dict[int, Row] = {}
        self.spans: dict[int, list[list[Any]]] = {}  # group -> [start, end or None, data]
        self.bars: dict[int, list[Any]] = {}  # job -> its present bar
        self.done: dict[int, float] = {}
        self.since: dict[int, tuple[int, int, float]] = {}  # job in a group -> (from, ready, pace)
        self.over: set[int] = set()
        self.changed: list[tuple[str, Row]] = []
        self.replanned = False
        self.claims: list[tuple[str, Row]] = []

    def take(self, at: str, at_ms: int, event: Row) -> None:
        """An event of the present phase."""
        handle = getattr(self, f"on_{event['kind']}", None)
        if handle is not None:
            handle(at, at_ms, event["data"])

    def enter(self, stage: Stage, parameters: Row) -> None:
        """Start of a phase. parameters: of its scheduler, from the log."""
        self.servers, self.parameters = stage.cluster["servers"], parameters
        self.grouping = stage.execution["model"] == ColocationRules.name
        self.fills = self.grouping and stage.execution["fills"]

    def hand_over(self, data: Row) -> None:
        """Start of the next phase, from its `edited` event; if no job is resubmitted, the scheduler keeps its state."""
        if data["offered"]:
            self.shortened |= self.planned
            self.done.clear()

    def on_plan_changed(self, at: str, at_ms: int, data: Row) -> None:
        self.planned.update(job for job, *_ in data["jobs"])
        if not self.grouping:
            self.bars.update({job: [] for job in data["keys"]} if data["scope"] == "job" else {})
            return
        for job in data["keys"] if data["scope"] == "job" else ():
            bars = [bar for bar in data["bars"] if bar[0] == job and bar[1] == 0]
            if len(bars) > 1:
                self.problems.append(
                    f"{at}: job {self._id(job)} has {len(bars)} bars; an interval in a group is one bar"
                )
            self.bars[job] = list(bars[0]) if bars else []
            self.replanned = True

    def on_decided(self, at: str, at_ms: int, data: Row) -> None:
        if data["code"] == "out_of_memory" and data["job"] not in self.shortened:
            self._advance(data["job"], at_ms)
            known = _facts(self.jobs[data["job"]])
            per_epoch = known["per_epoch"] if known is not None else 1
            left = data["values"]["iterations"]
            if left > self.done.get(data["job"], 0.0) * (1 + CLOSE) + CLOSE or left % per_epoch:
                self.problems.append(
                    f"{at}: job {self._id(data['job'])} falls back to {left!r} iterations, which "
                    "is not the end of a completed epoch"
                )
            self.done[data["job"]] = left

    def on_grouped(self, at: str, at_ms: int, data: Row) -> None:
        size = len(data["jobs"])
        known = all(job < len(self.jobs) for job in data["jobs"]) and all(
            s < len(self.servers) for s in data["servers"]
        )
        if (
            not known
            or any(len(data[key]) != size for key in LISTS)
            or data["machines"] != len(data["servers"])
            or bool(size) != bool(data["servers"])
        ):
            self.problems.append(
                f"{at}: group {data['group']} names unknown jobs or servers, or its lists differ in length"
            )
            return
        before = self.groups.get(data["group"])
        for job in before["jobs"] if before else ():
            self._advance(job, at_ms)
            self.since.pop(job, None)
        if data["jobs"]:
            self.groups[data["group"]] = data
        else:
            self.groups.pop(data["group"], None)
        spans = self.spans.setdefault(data["group"], [])
        if spans and spans[-1][1] is None:
            spans[-1][1] = at_ms
        if data["jobs"]:
            spans.append([at_ms, None, data])
        self.changed.append((at, data))

    def on_regrouped(self, at: str, at_ms: int, data: Row) -> None:
        self.claims.append((at, data))

    def on_job_completed(self, at: str, at_ms: int, data: Row) -> None:
        job = data["job"]
        self._advance(job, at_ms)
        self.since.pop(job, None)
        self.over.add(job)
        known = _facts(self.jobs[job])
        if (
            known
            and self.grouping
            and job not in self.shortened
            and self.done.get(job, 0.0) < known["iterations"] * (1 - 1e-9) - CLOSE
        ):
            self.problems.append(
                f"{at}: job {self._id(job)} completes after {self.done.get(job, 0.0):.6g} "
                f"of {known['iterations']} iterations"
            )

    def settle(self, at_ms: int) -> None:
        """Checks at the end of an instant that the resulting state is possible."""
        for at, data in self.changed:
            if self.groups.get(data["group"]) is data:
                self._check_group(at, at_ms, data)
                for job, ready, pace in zip(data["jobs"], data["ready_ms"], data["pace_ms"], strict=True):
                    self.since[job] = (at_ms, ready, pace)
        if self.grouping and (self.changed or self.replanned):
            self._check_apart(at_ms)
        if not self.grouping and self.groups:
            self.problems.append(
                f"groups {', '.join(map(str, self.groups))} stand at {at_ms} ms, in a phase that has none"
            )
        for at, data in self.claims:
            self._check_claim(at, at_ms, data)
        self.changed, self.claims, self.replanned = [], [], False

    def history(self, end_ms: int) -> list[tuple[int, int, Row]]:
        """(start, end, data) of every stretch of a group without a change."""
        out: list[tuple[int, int, Row]] = []
        for spans in self.spans.values():
            for start, end, data in spans:
                end = end_ms if end is None else end
                if out and out[-1][2]["group"] == data["group"] and out[-1][1] == start and _same(out[-1][2], data):
                    out[-1] = (out[-1][0], end, data)
                elif end > start:
                    out.append((start, end, data))
        return out

    def _id(self, job: int) -> str:
        return str(self.jobs[job]["id"]) if job < len(self.jobs) else str(job)

    def _advance(self, job: int, at_ms: int) -> None:
        """Progress of the iterations since the last event of the group."""
        if job in self.since:
            from_ms, ready_ms, pace = self.since[job]
            self.done[job] = self.done.get(job, 0.0) + max(0, at_ms - max(from_ms, ready_ms)) / pace
            self.since[job] = (at_ms, ready_ms, pace)

    def _check_apart(self, at_ms: int) -> None:
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
            if job in self.over or not bar or not bar[3] <= at_ms < bar[4]:
                continue
            held = self.groups.get(bar[8])
            if held is None or job not in held["jobs"]:
                self.problems.append(
                    f"job {self._id(job)}: its bar is in group {bar[8]}, which does not contain it at {at_ms} ms"
                )
        if self.fills and self.groups:
            used = {s for data in self.groups.values() for s in data["servers"]}
            idle = [
                self.servers[i]["name"] for here in self._pools() if used & set(here)
                for i in here if i not in used and not _away(self.servers[i], at_ms)
            ]  # fmt: skip
            if idle:
                self.problems.append(
                    f"{len(idle)} servers are idle while jobs run from {at_ms} ms on, {idle[0]} among them"
                )

    def _check_group(self, at: str, at_ms: int, data: Row) -> None:
        name = f"{at}: group {data['group']}"
        for server in data["servers"]:
            if "worker" not in self.servers[server]["roles"] or _away(self.servers[server], at_ms):
                self.problems.append(f"{name}: server {server} cannot hold jobs at {at_ms} ms")
                return
        for job in data["jobs"]:
            bar = self.bars.get(job)
            if job in self.over or bar is None:
                self.problems.append(f"{name}: job {self._id(job)} has no plan")
                return
            ends = bar and bar[4] <= at_ms
            if bar and not ends and (bar[8] != data["group"] or bar[5] != data["machines"]):
                self.problems.append(
                    f"{name}: the bar of job {self._id(job)} states group {bar[8]} on {bar[5]} machines"
                )
            if _facts(self.jobs[job]) is None:
                self.problems.append(f"{name}: job {self._id(job)} has no computation and communication times")
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
        comp, comm = self._times(data)
        alone = max(c + n for c, n in zip(comp, comm, strict=True))
        period = max(sum(comp), sum(comm), alone, 1e-6)
        coordinated = data["iteration_ms"] is not None
        wanted = {"comp_ms": comp, "comm_ms": comm}
        if coordinated:
            wanted |= {
                "iteration_ms": [period],
                "cpu_utilization": [sum(comp) / period],
                "net_utilization": [sum(comm) / period],
            }
        else:
            pairs = list(zip(comp, comm, data["pace_ms"], strict=True))
            wanted |= {
                "cpu_utilization": [sum(c / p for c, _, p in pairs)],
                "net_utilization": [sum(n / p for _, n, p in pairs)],
            }
        for key, values in wanted.items():
            stated = data[key] if isinstance(data[key], list) else [data[key]]
            for value, right in zip(stated, values, strict=True):
                if not _near(value, right):
                    self.problems.append(f"{name}: {key} is {value!r}, recomputed {right!r}")
        floor = period if coordinated else None
        for job, c, n, pace in zip(data["jobs"], comp, comm, data["pace_ms"], strict=True):
            if pace < (floor if floor is not None else c + n) * (1 - CLOSE):
                self.problems.append(
                    f"{name}: job {self._id(job)} iterates in {pace!r} ms, which is faster than its group allows"
                )

    def _times(self, data: Row) -> tuple[list[float], list[float]]:
        """Eq. (2); for jobs whose records a hand-over has shortened, as stated."""
        machines = [self.servers[s] for s in data["servers"]]
        nic = min(_nic(s) for s in machines)
        comp, comm = [], []
        for job, stated_comp, stated_comm in zip(data["jobs"], data["comp_ms"], data["comm_ms"], strict=True):
            known = _facts(self.jobs[job])
            assert known is not None
            if job in self.shortened:
                comp.append(stated_comp)
                comm.append(stated_comm)
                continue
            comp.append(known["comp"] / sum(_power(known["demand"], s) for s in machines))
            comm.append(known["comm"] * NIC / nic)
        return comp, comm

    def _check_memory(self, name: str, data: Row) -> None:
        usable = USABLE * min((self.servers[s]["capacity"] or {}).get("memory") or 0 for s in data["servers"])
        count = len(data["servers"])
        facts = [_facts(self.jobs[job]) or {} for job in data["jobs"]]
        ratios = list(zip(facts, data["disk_ratios"], data["model_disk_ratios"], strict=True))
        held = sum((1 - a) * f["input"] + (1 - b) * f["model"] for f, a, b in ratios)
        work = max(f["input"] * (a > 0) + f["model"] for f, a, _ in ratios)
        filled = HEAP * (held + WORK_SET * work) / count
        if usable and not _near(data["memory_used"], filled / usable):
            self.problems.append(f"{name}: memory_used is {data['memory_used']!r}, recomputed {filled / usable!r}")
        for (f, a, b), stated in zip(ratios, data["memory_gb"], strict=True):
            right = HEAP * ((1 - a) * f["input"] + (1 - b) * f["model"]) / count
            if not _near(stated, right):
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

    def _check_claim(self, at: str, at_ms: int, data: Row) -> None:
        """Eq. (4) over the available servers of a site."""
        pools = self._pools()
        if data["site"] >= len(pools):
            self.problems.append(f"{at}: site {data['site']} of {len(pools)}")
            return
        here = pools[data["site"]]
        present = sum(not _away(self.servers[i], at_ms) for i in here)
        for part, key in enumerate(("cpu_utilization", "net_utilization")):
            total = sum(g["machines"] * g[key] for g in self.groups.values() if set(g["servers"]) <= set(here))
            if not _near(data["after"][part], total / max(1, present)):
                self.problems.append(
                    f"{at}: claims a {key} of {data['after'][part]!r}, recomputed {total / max(1, present)!r}"
                )


def _check_rows(
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
            a == b or (a is not None and b is not None and _near(a, b)) for a, b in zip(numbers, right[3:], strict=True)
        ):
            problems.append(f"groups.csv: line {line}: group {key[0]} differs from events.jsonl")
    for key in expected:
        problems.append(f"groups.csv: group {key[0]} from {key[1]} to {key[2]} ms is missing")


def _facts(job: Row) -> dict[str, Any] | None:
    """Machine-ms and ms of an iteration, iterations, data in GB, and the demand of one of its workers."""
    given = {"input": job.get("input_gb"), "model": job.get("model_gb")}
    if all(job.get(part) is not None for part in NATIVE):
        return {
            "comp": job["comp_machine_ms"], "comm": job["comm_ms"], "iterations": job["iterations"],
            "demand": _demand(job) if (job.get("provenance") or {}).get("comp_machine_ms") == "derived" else None,
            "per_epoch": job.get("iterations_per_epoch") or 10, "input": given["input"] or 0.0,
            "model": given["model"] or 0.0,
        }  # fmt: skip
    if all(job.get(part) is not None for part in CHUNKS):
        chunks = job["num_chunks"]
        gang, units = (
            min(job.get("requested_workers") or 16, chunks),
            job["epochs"] * chunks * job["minibatches_per_chunk"],
        )
        each_ms = job["minibatch_ms"]
    elif all(job.get(part) is not None for part in SAMPLES):
        chunks = gang = job["global_batch"]
        units, each_ms = job["epochs"] * job["num_samples"], job["sample_ms"]
    else:
        return None
    iterations, gradient = math.ceil(units / gang), job["gradient_mb"]
    if given["input"] is None:
        given["input"] = chunks * ((job.get("chunk_mb") or 0) / 1000 or 0.128)
    if given["model"] is None:
        given["model"] = gradient / 500
    return {
        "comp": units * (each_ms + (job.get("ps_update_ms") or 0.0)) / iterations, "comm": 16 * gradient / NIC,
        "iterations": iterations, "demand": _demand(job), "per_epoch": math.ceil(units / job["epochs"] / gang), **given,
    }  # fmt: skip


def _demand(job: Row) -> list[int] | None:
    """Demand of one worker with its part of a parameter server: thousandths of GPU, vCPU, memory and storage."""
    ratio, worker, ps = job.get("workers_per_ps") or 1, job.get("worker"), job.get("ps") or {}
    if worker is None:
        return None
    amounts = [
        (round(1000 * (worker.get(r) or 0)), round(1000 * (ps.get(r) or 0)))
        for r in ("gpu", "cpu", "memory", "storage")
    ]
    return [math.ceil(own + other / ratio) for own, other in amounts]


def _power(demand: Sequence[int] | None, server: Row) -> float:
    """Speed of a machine, in workers of the reference speed."""
    speed = float(server.get("speed") or 1.0)
    if demand is None:
        return speed
    amounts = [round(1000 * (server["capacity"].get(r) or 0)) for r in ("gpu", "cpu", "memory", "storage")]
    return max(1, min((have // need for have, need in zip(amounts, demand, strict=True) if need), default=1)) * speed


def _nic(server: Row) -> float:
    return float(server.get("nic_gbps") or server["capacity"].get("bandwidth") or NIC)


def _away(server: Row, at_ms: int) -> bool:
    return any(begin <= at_ms < end for begin, end in server["away"])


def _same(one: Row, other: Row) -> bool:
    keys = ("servers", "jobs", "iteration_ms", "cpu_utilization", "net_utilization", "disk_ratios", "model_disk_ratios")
    return all(one[key] == other[key] for key in keys)


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * max(abs(one), abs(other)) + 1e-9


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
