"""Verifier of slotted runs, from plain rows. It shares no code with schedulers, ledger, training models or prices.

Jobs train by one of two models, which the files state: `oasis` (chunks of mini-batches) and `pd-ors` (samples of a
global batch).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from scheduling.model.bars import COUNT, END, ROLE, SERVER, START
from scheduling.model.values import shorten
from scheduling.verification.rules import CLOSE, TRANSFER, WORKER, Bar, Output, Row, Rules, Stage, same
from scheduling.verification.schema import AMOUNTS
from scheduling.verification.value_checks import absent_or, number, one_of

NO_PAYOFF = 1e-12  # utility; a payoff up to here is none, and its job is rejected


class Training(ABC):
    """Training of a job in slots: its total work, the work of one worker, and the maximum number of workers."""

    packs: tuple[str, ...]  # what a server can run out of
    parts: tuple[str, ...]  # fields of a job that its work is made of

    def missing(self, job: Row) -> list[str]:
        """Parts that the job lacks."""
        return [part for part in self.parts if job.get(part) is None]

    @abstractmethod
    def total(self, job: Row) -> int:
        """The job's work, in units of which a worker does one after another."""

    @abstractmethod
    def unit_ms(self, job: Row, one_server: bool) -> float:
        """Milliseconds of one worker for one unit. one_server: all workers and parameter servers are on one."""

    @abstractmethod
    def most_workers(self, job: Row) -> int:
        """Maximum number of concurrent workers."""

    @abstractmethod
    def broken(self, job: Row, workers: int, ps: int) -> Iterator[tuple[str, bool]]:
        """Rules for the ratio of workers to parameter servers, and whether they are broken."""


class OasisTraining(Training):
    packs = AMOUNTS
    parts = ("worker", "ps", "epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb")

    def total(self, job: Row) -> int:
        return int(job["epochs"] * job["num_chunks"] * job["minibatches_per_chunk"])

    def unit_ms(self, job: Row, one_server: bool) -> float:
        """1 Mbps moves 0.000125 MB a ms."""
        exchange, mbps = 2 * job["gradient_mb"], _mbps(job["worker"])
        if exchange and not mbps:
            return math.inf
        alone = job["minibatch_ms"] + (job.get("ps_update_ms") or 0)
        return float(alone + (exchange / (0.000125 * mbps) if exchange else 0.0))

    def most_workers(self, job: Row) -> int:
        return int(job["num_chunks"])

    def broken(self, job: Row, workers: int, ps: int) -> Iterator[tuple[str, bool]]:
        need, give = _mbps(job["worker"]), _mbps(job["ps"])
        yield f"{need / 1000:g} Gbps per worker and {give / 1000:g} per parameter server", workers * need > ps * give
        yield "no more parameter servers than workers", ps > workers > 0


class PdOrsTraining(Training):
    packs = AMOUNTS[:4]  # not of bandwidth
    parts = (
        "epochs", "num_samples", "global_batch", "sample_ms", "gradient_mb", "workers_per_ps", "internal_gbps",
        "external_gbps",
    )  # fmt: skip

    def total(self, job: Row) -> int:
        return int(job["epochs"] * job["num_samples"])

    def unit_ms(self, job: Row, one_server: bool) -> float:
        rate = job["internal_gbps"] if one_server else job["external_gbps"]
        exchange = 2 * job["gradient_mb"] / (0.125 * rate) + (job.get("ps_update_ms") or 0)
        return float(job["sample_ms"] + job["workers_per_ps"] * exchange / job["global_batch"])

    def most_workers(self, job: Row) -> int:
        return int(job["global_batch"])

    def broken(self, job: Row, workers: int, ps: int) -> Iterator[tuple[str, bool]]:
        yield f"at most {job['workers_per_ps']} workers per parameter server", workers > ps * job["workers_per_ps"]


TRAININGS: dict[str, Training] = {"oasis": OasisTraining(), "pd-ors": PdOrsTraining()}


class SlottedRules(Rules):
    """Rules of slotted runs: bars cover whole slots on servers, and a job completes when its work is done."""

    name = "slotted"
    states = {"training": absent_or(one_of(tuple(TRAININGS)))}

    def missing(self, execution: Row, parameters: Row) -> str | None:
        name, model = execution["training"], parameters.get("model")
        if name is None:
            return f"it states no known training model ({', '.join(TRAININGS)}), so its work cannot be verified"
        packs = TRAININGS[name].packs
        if set(execution["packs"]) != set(packs):
            return (
                f"packs must be {', '.join(packs)} with training {name}, got {', '.join(execution['packs']) or 'none'}"
            )
        if model not in (None, name):
            return f"training is {name}, but the parameter model is {shorten(repr(model))}"
        return None

    def check(self, given: Output, problems: list[str]) -> None:
        jobs = {job["id"]: job for job in given.jobs}
        for id_, own in given.bars.items():
            _check_slots(given.cluster, id_, own, problems)
        training = TRAININGS[given.execution["training"]]
        for id_ in sorted(given.bars.keys() | given.done.keys()):
            worked = _completion(jobs[id_], given.bars.get(id_, ()), training, problems)
            if worked != given.done.get(id_):
                ends, reported = ("never" if ms is None else f"at {ms} ms" for ms in (worked, given.done.get(id_)))
                problems.append(
                    f"job {id_}: its workers finish its work {ends}, but it completes {reported} in events.jsonl"
                )
        _check_prices(given, problems)

    def finishes(self, cluster: Row) -> bool:
        """Plans end by the horizon, so that what is admitted completes before it."""
        return True

    def check_stage(
        self, stage: Stage, jobs: Sequence[Row], bars: Sequence[Sequence[int]], problems: list[str]
    ) -> None:
        for job, _, server, start_ms, end_ms, _, worker_slot, _, group in bars:
            at = f"job {jobs[job]['id']} from {start_ms} to {end_ms} ms"
            if server < 0:
                problems.append(f"{at} is on no server, which the slotted model does not allow")
            elif worker_slot >= 0 or group >= 0:
                problems.append(f"{at} names a worker or a group, which the slotted model does not have")

    def share_done(self, stage: Stage, job: Row, bars: Sequence[Sequence[int]]) -> float | None:
        training = TRAININGS[stage.execution["training"]]
        if training.missing(job):
            return 0.0  # the amount of work is unknown
        own = [bar for bar in bars if bar[ROLE] != TRANSFER]
        done = 0.0
        for begin, end in pairwise(sorted({ms for bar in own for ms in (bar[START], bar[END])})):
            standing = [bar for bar in own if bar[START] <= begin < bar[END]]
            workers = sum(bar[COUNT] for bar in standing if bar[ROLE] == WORKER)
            if workers:
                done += workers * (end - begin) / training.unit_ms(job, len({bar[SERVER] for bar in standing}) == 1)
        return done * (1 + CLOSE) / training.total(job)


def _mbps(demand: Row) -> int:
    return round((demand.get("bandwidth") or 0) * 1000)


def _check_slots(cluster: Row, id_: str, bars: Sequence[Bar], problems: list[str]) -> None:
    """Check that bars are on servers, cover whole slots and end by the horizon."""
    slot_ms, horizon = cluster["slot_ms"], cluster["horizon_slots"]
    for bar in bars:
        at = f"job {id_}: {bar.role} on {bar.server} in [{bar.start_ms}, {bar.end_ms}) ms"
        if bar.server in ("", "cloud"):
            problems.append(f"{at} is on no server, which the slotted model does not allow")
        if bar.worker_slot or bar.chunk or bar.group:
            problems.append(f"{at} names a worker, a chunk or a group, which the slotted model does not have")
        if bar.start_ms % slot_ms or bar.end_ms % slot_ms:
            problems.append(f"{at} does not cover whole slots of {slot_ms} ms")
        if horizon is not None and bar.end_ms > horizon * slot_ms:
            problems.append(f"{at} ends after the horizon of {horizon} slots")


def _completion(job: Row, bars: Sequence[Bar], training: Training, problems: list[str]) -> int | None:
    """Completion time of the job's work (the end of its last worker bar), None if it never is. Checks counts too."""
    own = [bar for bar in bars if bar.role in ("worker", "ps")]
    if not own:
        return None
    if missing := training.missing(job):
        problems.append(f"job {job['id']} runs without {', '.join(missing)}, so its work is unknown")
        return None
    done, last_ms = 0.0, None
    reported: set[str] = set()
    for start_ms, end_ms, standing in _stretches(own):
        workers, ps = (sum(n for (role, _), n in standing.items() if role == which) for which in ("worker", "ps"))
        if workers:
            last_ms = end_ms
            done += workers * (end_ms - start_ms) / training.unit_ms(job, len({server for _, server in standing}) == 1)
        for rule, broken in _counts(job, training, workers, ps):
            if broken and rule not in reported:
                reported.add(rule)
                problems.append(
                    f"job {job['id']}: from {start_ms} ms {workers} workers and {ps} parameter servers: {rule}"
                )
    return last_ms if done >= training.total(job) * (1 - CLOSE) else None


def _counts(job: Row, training: Training, workers: int, ps: int) -> Iterator[tuple[str, bool]]:
    """The rules of the counts at one time, and whether they are broken."""
    limit = training.most_workers(job)
    yield f"at most {limit} workers at a time", workers > limit
    yield "parameter servers without workers", ps > 0 and workers == 0
    yield "workers without parameter servers", workers > 0 and ps == 0
    yield from training.broken(job, workers, ps)


def _stretches(bars: Sequence[Bar]) -> Iterator[tuple[int, int, dict[tuple[str, str], int]]]:
    """(start, end, {(role, server): count}) of every span in which nothing changes and something is held."""
    changes = sorted(
        (ms, (bar.role, bar.server), sign * bar.count)
        for bar in bars
        for ms, sign in ((bar.start_ms, 1), (bar.end_ms, -1))
    )
    standing: dict[tuple[str, str], int] = defaultdict(int)
    for position, (at_ms, place, change) in enumerate(changes):
        standing[place] += change
        if not standing[place]:
            del standing[place]
        following = changes[position + 1][0] if position + 1 < len(changes) else at_ms
        if standing and following > at_ms:
            yield at_ms, following, standing


def _check_prices(given: Output, problems: list[str]) -> None:
    """Check of the numbers of decisions by price: of admissions with the schedule, of rejections with each other."""
    ids = {job["id"] for job in given.jobs}
    for row in given.decisions:
        code, values = row["reason"]["code"], row["reason"]["values"]
        if code in ("payoff_positive", "payoff_not_positive") and row["job"] in ids:
            at = f"decision {row['seq']}: job {row['job']}"
            problems += [f"{at}: {text}" for text in _wrong_payoff(given, row["job"], code, values)]


def _wrong_payoff(given: Output, id_: str, code: str, values: Row) -> Iterator[str]:
    if any(number(values.get(name)) is not None for name in ("payoff", "utility", "cost", "finish_slot")):
        yield f"{code} needs numbers for payoff, utility, cost and finish_slot"
        return
    payoff, utility, cost, slot = (values[name] for name in ("payoff", "utility", "cost", "finish_slot"))
    if not same(payoff, utility - cost, abs(utility) + abs(cost)):
        yield f"payoff {payoff!r} is not utility {utility!r} - cost {cost!r}"
    if (payoff > NO_PAYOFF) != (code == "payoff_positive"):
        yield f"{code} with a payoff of {payoff!r}"
    if code == "payoff_positive" and id_ in given.done and "beliefs" not in given.outcome.started:
        end_ms = given.done[id_]
        if slot != math.ceil(end_ms / given.cluster["slot_ms"]) - 1:
            yield f"states completion in slot {slot}, but its last worker stops at {end_ms} ms"
        if not same(utility, given.utilities[id_]):
            yield f"states a utility of {utility!r}, recomputed {given.utilities[id_]!r}"
