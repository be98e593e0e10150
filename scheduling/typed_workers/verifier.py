"""Verifier of schedules of typed workers, from plain rows.

It shares no code with schedulers, ledger, workers.py or metrics.

The code of the constraint of A_online's model (2a to 2k, 4a, 4e, 7b) stands in each problem.

Two ways to run a job: chunk by chunk, each on one worker for life, with one parameter server while any of them runs; or
as a gang of workers that start and stop together, and load the data of the job on servers that do not have it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from scheduling.verification.replay import CLOUD, Outcome
from scheduling.verification.rules import PS, TRANSFER, WORKER, Output, Row, Rules, Stage
from scheduling.verification.schema import boolean

PARTS = ("epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms")
TOLERANCE_MS = 2  # of one chunk: durations are rounded up
SHOWN = 20  # problems of one kind

Spans = list[tuple[int, int]]


class TypedWorkersRules(Rules):
    """Rules of typed workers: one bar at a time on each, and jobs that run in chunks or as gangs."""

    name = "typed_workers"
    states = dict.fromkeys(("chunks", "cloud", "fixed"), boolean)
    part = "lanes"

    def check(self, given: Output, problems: list[str]) -> None:
        _Check(given.cluster, given.jobs, given.outcome, given.execution, given.summary["parameters"], problems).all()

    def figures(self, given: Output) -> dict[str, Any] | None:
        # also of plans that never took effect
        outcome = self.part in given.summary["metrics"] or any(given.outcome.bars.values())
        return _figures(given.cluster, given.jobs, given.outcome) if outcome else None

    def check_stage(
        self, stage: Stage, jobs: Sequence[Row], bars: Sequence[Sequence[int]], problems: list[str]
    ) -> None:
        servers, types = stage.cluster["servers"], [lane_types(stage.cluster, role) for role in (WORKER, PS)]
        on: dict[tuple[int, int, int], Spans] = defaultdict(list)
        for job, role, server, start_ms, end_ms, _, lane, _, _ in bars:
            at = f"job {jobs[job]['id']}: from {start_ms} to {end_ms} ms"
            if server >= 0:
                on[int(role == PS), server, lane].append((start_ms, end_ms))
                if not 0 <= lane < len(types[int(role == PS)][server]):
                    problems.append(f"{at}: server {servers[server]['name']} has no worker {lane}")
            elif server != CLOUD:
                problems.append(f"{at}: is on no worker of a server")
        for (_, server, lane), spans in on.items():
            spans.sort()
            if any(after[0] < before[1] for before, after in pairwise(spans)):
                problems.append(f"server {servers[server]['name']}: two bars are on worker {lane} at the same time")

    def share_done(self, stage: Stage, job: Row, bars: Sequence[Sequence[int]]) -> float | None:
        speed = 1.0 + (stage.parameters.get("speed_augmentation") or 0.0)
        return sum(
            _share_of_a_ms(job, server == CLOUD, speed) * count * (end_ms - start_ms)
            for _, role, server, start_ms, end_ms, count, *_ in bars
            if role == WORKER
        )


class _Check:
    """Bars of a run by lane and by job. A bar: job, role, server, start_ms, end_ms, count, lane, chunk, group."""

    def __init__(
        self, cluster: Row, jobs: Sequence[Row], outcome: Outcome, execution: Row, parameters: Row, problems: list[str]
    ) -> None:
        self.cluster, self.jobs, self.outcome, self.problems = cluster, jobs, outcome, problems
        self.in_chunks, self.may_use_cloud, self.fixed = (execution[flag] for flag in ("chunks", "cloud", "fixed"))
        self.storage = parameters.get("storage", "none")
        self.speed = 1.0 + (parameters.get("speed_augmentation") or 0.0)
        self.types = [lane_types(cluster, role) for role in (WORKER, PS)]  # [role][server][lane]
        self.untyped = not _declares(cluster)
        self.counts: dict[str, int] = defaultdict(int)

    def all(self) -> None:
        lanes: dict[tuple[int, int, int], list[list[int]]] = defaultdict(list)
        known = {job for job, plan in self.outcome.bars.items() if plan and self._has_parts(job)}
        for plan in self.outcome.bars.values():
            for bar in plan:
                if self._placed(bar) and bar[2] != CLOUD:
                    lanes[int(bar[1] == PS), bar[2], bar[6]].append(bar)
        for (role, server, lane), bars in lanes.items():
            self._exclusive(role, server, lane, bars)
        for job in sorted(known):
            (self._chunked if self.in_chunks else self._gang)(job, self.outcome.bars[job])
        for job in set(self.outcome.completed) - known:
            self._problem("2b", job, "completes without work")
        if self.storage != "none":
            self._stored()

    def _problem(self, code: str, job: int | None, text: str) -> None:
        self.counts[code] += 1
        if self.counts[code] <= SHOWN:
            self.problems.append(f"{code}: {text}" if job is None else f"{code}: job {self.jobs[job]['id']}: {text}")

    def _has_parts(self, job: int) -> bool:
        missing = [part for part in PARTS if self.jobs[job].get(part) is None]
        if missing:
            self._problem("2k", job, f"runs without {', '.join(missing)}, so its work is unknown")
        return not missing

    def _placed(self, bar: Sequence[int]) -> bool:
        """True if the bar is on a lane that may take it."""
        job, role, server, start_ms, end_ms, count, lane, chunk, _ = bar
        if server == CLOUD:
            if not (self.may_use_cloud and self.cluster["cloud"]):
                self._problem("2a", job, f"uses the cloud at {start_ms} ms, which this scheduler may not use")
            return True
        types = self.types[int(role == PS)]
        if server < 0 or not 0 <= lane < len(types[server]) or count != 1:
            self._problem(
                "2k",
                job,
                f"a bar at {start_ms} ms must be on one worker of a server, got server {server}, worker {lane}, "
                f"count {count}",
            )
            return False
        if role != PS and not self.untyped and types[server][lane] != self.jobs[job].get("worker_type"):
            self._problem(
                "2a",
                job,
                f"runs at {start_ms} ms on a worker of type {types[server][lane]}, not "
                f"{self.jobs[job].get('worker_type')}",
            )
        if self.in_chunks != (chunk >= 0) and role != PS:
            self._problem("2k", job, f"a bar at {start_ms} ms must {'name' if self.in_chunks else 'not name'} a chunk")
        if role == PS and not self.in_chunks:
            self._problem("2k", job, f"holds a parameter server at {start_ms} ms, which gangs do not have")
        for begin, back in self.cluster["servers"][server]["away"]:
            if start_ms < back and end_ms > begin:
                self._problem(
                    "2a", job, f"is at {max(start_ms, begin)} ms on server {self._name(server)}, which is unavailable"
                )
        return True

    def _name(self, server: int) -> str:
        return "cloud" if server == CLOUD else str(self.cluster["servers"][server]["name"])

    def _exclusive(self, role: int, server: int, lane: int, bars: list[list[int]]) -> None:
        bars.sort(key=lambda bar: bar[3])
        reached, holder = -1, -1
        for bar in bars:
            if bar[3] < reached:
                what, code = ("parameter server", "2f") if role == PS else ("worker", "2d")
                other = self.jobs[holder]["id"]
                self._problem(
                    code,
                    bar[0],
                    f"takes {what} {lane} of server {self._name(server)} at {bar[3]} ms, which job {other} holds",
                )
            if bar[4] > reached:
                reached, holder = bar[4], bar[0]

    def _work(self, job: int) -> tuple[int, int]:
        """Work of a chunk with its parameter server elsewhere, and in one location (Eq. 1)."""
        row = self.jobs[job]
        alone = row["minibatch_ms"] + (row.get("ps_update_ms") or 0)
        gbps = (row.get("worker") or {}).get("bandwidth") or 0
        exchange = 2 * (row.get("gradient_mb") or 0) * 8 / gbps if gbps else 0.0
        minibatches = row["epochs"] * row["minibatches_per_chunk"] / self.speed
        apart, together = (max(1, math.ceil(minibatches * ms - 1e-6)) for ms in (alone + exchange, alone))
        return apart, together

    def _arrives(self, job: int, server: int) -> int:
        """Earliest time of a chunk on the server."""
        row = self.jobs[job]
        delay = (
            row.get("cloud_upload_ms") if server == CLOUD else (row["upload_ms"][server] if row.get("upload_ms") else 0)
        )
        return int(row["arrival_ms"] + (delay or 0))

    def _chunked(self, job: int, bars: Sequence[Sequence[int]]) -> None:
        row = self.jobs[job]
        by_chunk: dict[int, list[Sequence[int]]] = defaultdict(list)
        for bar in bars:
            if bar[1] == WORKER:
                by_chunk[bar[7]].append(bar)
            elif bar[1] == TRANSFER:
                self._problem("mig", job, f"moves data at {bar[3]} ms")
        servers = [bar for bar in bars if bar[1] == PS]
        together = all(bar[2] == CLOUD for bar in bars)
        apart_ms, together_ms = self._work(job)
        need = together_ms if together else apart_ms
        done = 0
        last_ms = 0
        for chunk, own in by_chunk.items():
            if not 0 <= chunk < row["num_chunks"]:
                self._problem("2c", job, f"has no chunk {chunk}: there are {row['num_chunks']}")
            if len({(bar[2], bar[6]) for bar in own}) > 1:
                self._problem("mig", job, f"chunk {chunk} moves from one worker to another")
            spans = sorted((bar[3], bar[4]) for bar in own)
            if any(start < end for (_, end), (start, _) in pairwise(spans)):
                self._problem("4e", job, f"chunk {chunk} runs twice at once")
            if spans[0][0] < self._arrives(job, own[0][2]):
                self._problem(
                    "2i",
                    job,
                    f"chunk {chunk} starts at {spans[0][0]} ms, before its upload can end at "
                    f"{self._arrives(job, own[0][2])} ms",
                )
            worked = sum(end - start for start, end in spans)
            if worked > need + TOLERANCE_MS:
                self._problem("over", job, f"chunk {chunk} works {worked} ms and needs {need} ms")
            done += worked >= need - TOLERANCE_MS
            last_ms = max(last_ms, spans[-1][1])
        completed = self.outcome.completed.get(job)
        whole = done >= row["num_chunks"]
        if completed is not None and not whole:
            self._problem("4a", job, f"completes with {done} of {row['num_chunks']} chunks done, each of {need} ms")
        elif completed is not None and completed[0] != last_ms:
            self._problem("2j", job, f"completes at {completed[0]} ms, and its last worker stops at {last_ms} ms")
        elif completed is None and whole:
            self._problem("2j", job, f"is done at {last_ms} ms and never completes")
        self._served(
            job, [(bar[3], bar[4]) for own in by_chunk.values() for bar in own], [(bar[3], bar[4]) for bar in servers]
        )

    def _served(self, job: int, runs: Spans, served: Spans) -> None:
        """Check that the job has one parameter server exactly while it runs."""
        held = sorted(served)
        for (_, end), (start, _) in pairwise(held):
            if start < end:
                self._problem("2e", job, f"holds two parameter servers at {start} ms")
        runs, held = united(runs), united(held)
        for start, end in outside(runs, held):
            self._problem("2e", job, f"runs from {start} to {end} ms without a parameter server")
        for start, end in outside(held, runs):
            self._problem("ps_idle", job, f"holds a parameter server from {start} to {end} ms, while it does not run")

    def _gang(self, job: int, bars: Sequence[Sequence[int]]) -> None:
        row = self.jobs[job]
        apart_ms, together_ms = self._work(job)
        cloud = {bar[2] == CLOUD for bar in bars}
        if len(cloud) > 1:
            self._problem("gang", job, "is in the cloud and at the edge")
            return
        in_cloud = cloud == {True}
        workers = sorted((bar for bar in bars if bar[1] == WORKER), key=lambda bar: bar[3])
        need = row["num_chunks"] * (together_ms if in_cloud else apart_ms)
        size = self._stretches(job, bars, in_cloud)
        worked = sum((bar[4] - bar[3]) * bar[5] for bar in workers)
        slack = TOLERANCE_MS * row["num_chunks"]
        completed = self.outcome.completed.get(job)
        last_ms = max((bar[4] for bar in workers), default=0)
        if worked > need + size + slack:
            self._problem("over", job, f"works {worked} ms and needs {need} ms")
        if (worked >= need - slack) != (completed is not None):
            self._problem(
                "2b", job, f"{'completes' if completed else 'never completes'} with {worked} of {need} worker-ms done"
            )
        elif completed is not None and completed[0] != last_ms:
            self._problem("2j", job, f"completes at {completed[0]} ms, and its last worker stops at {last_ms} ms")
        self._loaded(job, bars)

    def _stretches(self, job: int, bars: Sequence[Sequence[int]], in_cloud: bool) -> int:
        """Size of the gang, which never changes: all of it works, or all of it loads."""
        changes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for _, role, _, start_ms, end_ms, count, *_ in bars:
            place = int(role == TRANSFER)
            changes[start_ms][place] += count
            changes[end_ms][place] -= count
        sizes: set[int] = set()
        standing = [0, 0]
        for at_ms in sorted(changes):
            standing = [n + by for n, by in zip(standing, changes[at_ms], strict=True)]
            if standing[0] and standing[1]:
                self._problem("gang", job, f"has {standing[0]} workers at {at_ms} ms and {standing[1]} that load")
            if any(standing):
                sizes.add(sum(standing))
        row = self.jobs[job]
        expected = None
        if self.fixed:
            available = sum(
                self.untyped or kind == row.get("worker_type") for types in self.types[WORKER] for kind in types
            )
            expected = max(1, min(row.get("requested_workers") or 1, row["num_chunks"], available))
        if len(sizes) > 1 or (expected is not None and sizes - {expected}):
            self._problem(
                "gang", job, f"has gangs of {sorted(sizes)} workers" + (f", not of {expected}" if expected else "")
            )
        if max(sizes, default=0) > row["num_chunks"]:
            self._problem("2c", job, f"has {max(sizes)} workers and {row['num_chunks']} chunks")
        return max(sizes, default=0)

    def _loaded(self, job: int, bars: Sequence[Sequence[int]]) -> None:
        """Check that a worker starts on a server without the data only after the whole load."""
        if self.may_use_cloud:  # it loads before it starts and stays: the upload of Eq. (2i)
            for bar in bars:
                if bar[1] == WORKER and bar[3] < self._arrives(job, bar[2]):
                    self._problem(
                        "2i", job, f"starts at {bar[3]} ms on server {self._name(bar[2])}, before its data have arrived"
                    )
            return
        loads: dict[int, Spans] = defaultdict(list)
        first: dict[int, int] = {}
        for _, role, server, start_ms, end_ms, *_ in bars:
            if role == TRANSFER:
                loads[server].append((start_ms, end_ms))
            elif server not in first or start_ms < first[server]:
                first[server] = start_ms
        for server, start_ms in first.items():
            delay = self._arrives(job, server) - self.jobs[job]["arrival_ms"]
            if delay and not any(end <= start_ms and end - begin >= delay for begin, end in loads[server]):
                self._problem(
                    "2i",
                    job,
                    f"starts at {start_ms} ms on server {self._name(server)} without loading its data for {delay} ms",
                )

    def _stored(self) -> None:
        """Check of the storage of servers, from the dispatch of a chunk to the end of its job, or to its own end."""
        dispatched = {
            event["data"]["job"]: event["at_ms"]
            for event in self.outcome.decisions
            if event["data"]["kind"] == "admitted"
        }
        changes: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for job, bars in self.outcome.bars.items():
            size = round((self.jobs[job].get("chunk_mb") or 0) * 1000)
            ends: dict[tuple[int, int], int] = {}
            for bar in bars:
                if bar[1] == WORKER and bar[2] != CLOUD:
                    ends[bar[7], bar[2]] = max(bar[4], ends.get((bar[7], bar[2]), 0))
            completed = self.outcome.completed.get(job)
            for (_, server), end_ms in ends.items():
                until = (
                    end_ms if self.storage == "chunk" else (completed[0] if completed else max(bar[4] for bar in bars))
                )
                changes[server] += [(dispatched.get(job, 0), size), (until, -size)]
        for server, own in changes.items():
            capacity = round((self.cluster["servers"][server]["capacity"].get("storage") or 0) * 1_000_000)
            held = 0
            for at_ms, by in sorted(own):  # at one time, releases go first
                held += by
                if held > capacity:
                    self._problem(
                        "7b",
                        None,
                        f"server {self._name(server)} stores {held / 1000:g} of {capacity / 1000:g} MB from {at_ms} ms",
                    )
                    break


def _declares(cluster: Row) -> bool:
    return any(server.get("worker_lanes") or server.get("ps_lanes") for server in cluster["servers"])


def lane_types(cluster: Row, role: int) -> list[list[str]]:
    """[server][lane] its type. If no server declares lanes, GPUs are workers, vCPUs parameter servers, one type."""
    declares = _declares(cluster)
    out: list[list[str]] = []
    for server in cluster["servers"]:
        if ("worker", "ps")[role] not in server["roles"]:
            out.append([])
        elif declares:
            found = server.get("ps_lanes" if role else "worker_lanes") or {}
            out.append([kind for kind, count in found.items() for _ in range(count)])
        else:
            amount = (server.get("capacity") or {}).get("cpu" if role else "gpu") or 0
            out.append([""] * int(round(amount * 1000) // 1000))
    return out


def united(spans: Iterable[tuple[int, int]]) -> Spans:
    """Sorted, disjoint intervals; touching ones are merged."""
    out: Spans = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def outside(spans: Spans, cover: Spans) -> Spans:
    """Parts of `spans` that `cover` does not cover; both as `united` gives them."""
    out: Spans = []
    place = 0
    for start, end in spans:
        at = start
        while place < len(cover) and cover[place][1] <= at:
            place += 1
        following = place
        while at < end:
            if following == len(cover) or cover[following][0] >= end:
                out.append((at, end))
                break
            if cover[following][0] > at:
                out.append((at, cover[following][0]))
            at = max(at, cover[following][1])
            following += 1
    return out


def _share_of_a_ms(job: Row, together: bool, speed: float) -> float:
    """Share of the job's work that one worker does per ms; in the cloud at the higher of its rates."""
    each_ms = job["minibatch_ms"] + (job.get("ps_update_ms") or 0.0)
    rate = (job.get("worker") or {}).get("bandwidth") or 0
    if not together and job.get("gradient_mb") and rate:
        each_ms += 2 * 8 * job["gradient_mb"] / rate
    return float(1 / (job["num_chunks"] * max(1.0, job["epochs"] * job["minibatches_per_chunk"] * each_ms / speed)))


def _figures(cluster: Row, jobs: Sequence[Row], outcome: Outcome) -> dict[str, Any]:
    """The part `lanes` of the metrics of summary.json, recomputed."""
    bars = [bar for plan in outcome.bars.values() for bar in plan]
    runs: dict[int, Spans] = defaultdict(list)
    chunks: set[tuple[int, int, int]] = set()
    worked: dict[int, int] = defaultdict(int)
    edge: set[int] = set()
    whole: dict[int, int] = {}  # gangs in the cloud
    transfer_ms = 0
    for job, role, server, start_ms, end_ms, count, _, chunk, _ in bars:
        if role == TRANSFER:
            transfer_ms += end_ms - start_ms
        elif role == WORKER:
            runs[job].append((start_ms, end_ms))
            worked[job] += (end_ms - start_ms) * count
            chunks.add((job, chunk, server))
            if server != CLOUD:
                edge.add(job)
            elif chunk < 0:
                whole[job] = count
    upload_ms = sum(count * (jobs[job].get("cloud_upload_ms") or 0) for job, count in whole.items())
    for job, chunk, server in chunks:
        if chunk >= 0:
            row = jobs[job]
            upload_ms += (
                (row.get("cloud_upload_ms") or 0)
                if server == CLOUD
                else (row["upload_ms"][server] if row.get("upload_ms") else 0)
            )
    exchange_ms = 0
    for job in edge:
        if all(jobs[job].get(part) is not None for part in PARTS):
            apart, together = _plain_work(jobs[job])
            exchange_ms += round(worked[job] * (apart - together) / apart)
    slow = sorted(filter(None, (_slowdown(cluster, jobs[job], at_ms) for job, (at_ms, _) in outcome.completed.items())))
    return {
        "job_suspensions": sum(len(united(spans)) - 1 for spans in runs.values()),
        "cloud_chunks": len({(job, chunk) for job, chunk, server in chunks if server == CLOUD}),
        "mean_slowdown": sum(slow) / len(slow) if slow else None,
        "median_slowdown": float(np.percentile(slow, 50)) if slow else None,
        "p95_slowdown": float(np.percentile(slow, 95)) if slow else None,
        "upload_ms": upload_ms, "transfer_ms": transfer_ms, "exchange_ms": exchange_ms,
        "communication_ms": upload_ms + transfer_ms + exchange_ms,
        **_busy(cluster, jobs, bars),
    }  # fmt: skip


def _plain_work(row: Row) -> tuple[int, int]:
    alone = row["minibatch_ms"] + (row.get("ps_update_ms") or 0)
    gbps = (row.get("worker") or {}).get("bandwidth") or 0
    exchange = 16 * (row.get("gradient_mb") or 0) / gbps if gbps else 0.0
    count = row["epochs"] * row["minibatches_per_chunk"]
    return max(1, math.ceil(count * (alone + exchange) - 1e-6)), max(1, math.ceil(count * alone - 1e-6))


def _slowdown(cluster: Row, row: Row, completed_ms: int) -> float | None:
    """Slowdown: JCT over that of the job alone, in the cloud or with the D-th chunk that its lanes can complete."""
    if any(row.get(part) is None for part in PARTS):
        return None
    apart, together = _plain_work(row)
    untyped = not _declares(cluster)
    delays = sorted(
        (row["upload_ms"][s] if row.get("upload_ms") else 0)
        for s, types in enumerate(lane_types(cluster, WORKER))
        for kind in types
        if untyped or kind == row.get("worker_type")
    )
    options = []
    if cluster["cloud"] and row.get("cloud_upload_ms") is not None:
        options.append(row["cloud_upload_ms"] + together)
    if delays:
        count, rounds = (
            row["num_chunks"],
            math.ceil(row["num_chunks"] / len(delays)) + 1 + (delays[-1] - delays[0]) // apart,
        )
        few = delays[:count]
        ends = np.add.outer(np.array(few), apart * np.arange(1, min(rounds, count) + 1)).ravel()
        options.append(int(np.partition(ends, count - 1)[count - 1]))
    return (completed_ms - row["arrival_ms"]) / min(options) if options else None


def _busy(cluster: Row, jobs: Sequence[Row], bars: Sequence[Sequence[int]]) -> dict[str, Any]:
    workers = [bar for bar in bars if bar[1] == WORKER and bar[2] != CLOUD]
    types = lane_types(cluster, WORKER)
    total = sum(map(len, types))
    if not workers or not total:
        return {"busy": {}, "mean_busy": None, "peak_busy": None}
    first, last = min(job["arrival_ms"] for job in jobs), max(bar[4] for bar in workers)
    offered: dict[tuple[str, str], float] = defaultdict(float)
    used: dict[tuple[str, str], float] = defaultdict(float)
    sites = [server.get("site") or "edge" for server in cluster["servers"]]
    for s, server in enumerate(cluster["servers"]):
        gone = sum(max(0, min(end, last) - max(begin, first)) for begin, end in server["away"])
        for kind in types[s]:
            offered[sites[s], kind or "any"] += last - first - gone
    changes: dict[int, int] = defaultdict(int)
    for _, _, server, start_ms, end_ms, _, lane, _, _ in workers:
        used[sites[server], types[server][lane] or "any"] += end_ms - start_ms
        changes[start_ms] += 1
        changes[end_ms] -= 1
    peak = running = 0
    for at_ms in sorted(changes):
        running += changes[at_ms]
        peak = max(peak, running)
    busy: dict[str, dict[str, float]] = {}
    for (site, kind), ms in offered.items():
        if ms:
            busy.setdefault(site, {})[kind] = used[site, kind] / ms
    return {"busy": busy, "mean_busy": sum(used.values()) / sum(offered.values()), "peak_busy": peak / total}
