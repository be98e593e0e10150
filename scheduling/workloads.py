"""Workloads of the papers by the name of their profile, whichever execution model they are made for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduling.colocation.workload import harmony
from scheduling.model.limits import MAX_INT, MAX_SLOT_MS
from scheduling.model.speed import completed
from scheduling.model.values import Cluster, Job, ModelError, shorten
from scheduling.slotted.workload_oasis import oasis
from scheduling.slotted.workload_pd_ors import pd_ors
from scheduling.typed_workers.workload import a_online

SLOT_MS = 3_600_000
HORIZON = 100  # slots
VARIANTS = ("calibrated", "literal")
MAX_JOBS = 1_000_000
MAX_GENERATED_SERVERS = 20_000
PROFILES: dict[str, Callable[..., tuple[Cluster, list[Job]]]] = {
    "oasis": oasis,
    "pd-ors": pd_ors,
    "a-online": a_online,
    "harmony": harmony,
}
ABOUT = {  # of each profile, for people
    "oasis": "OASiS: workers and parameter servers on separate servers, jobs with a utility; half edge, half cloud",
    "pd-ors": "PD-ORS: shared servers, jobs with a utility, trained by samples",
    "a-online": "A_online: typed workers at the edge, an unlimited cloud with upload delays, jobs in data chunks",
    "harmony": "Harmony: machines shared by jobs with alternating computation and communication; eight models, ten "
    "settings each",
}
ENDLESS = ("a-online", "harmony")  # profiles without a horizon unless one is asked for


def generate(
    profile: str, *, variant: str = "calibrated", num_jobs: int, num_servers: int = 100, seed: int = 0,
    horizon_slots: int | None = None, slot_ms: int = SLOT_MS, **options: Any,
) -> tuple[Cluster, list[Job]]:  # fmt: skip
    """The cluster and the jobs, sorted by arrival, of a paper's profile. ModelError names the profiles that exist.

    What the schedulers of the other papers need of a job is derived from its speed.

    horizon_slots: HORIZON when it is left out; a-online and harmony, whose schedulers plan without an end, have none
        then.
    options: of the profile alone; they are the keyword arguments of its function.
    """
    if profile not in PROFILES:
        raise ModelError(f"unknown profile {shorten(repr(profile))}; known: {', '.join(PROFILES)}")
    if variant not in VARIANTS:
        raise ModelError(f"unknown variant {shorten(repr(variant))}; known: {', '.join(VARIANTS)}")
    if horizon_slots is None and profile not in ENDLESS:
        horizon_slots = HORIZON
    for name, value, least, most in (
        ("jobs", num_jobs, 0, MAX_JOBS), ("servers", num_servers, 2, MAX_GENERATED_SERVERS),
        ("slot_ms", slot_ms, 1, MAX_SLOT_MS),
        ("slot_ms x horizon_slots", slot_ms * (horizon_slots or 1), 1, MAX_INT),
    ):  # fmt: skip
        if not least <= value <= most:
            limit = f"at least {least:,}" if value < least else f"at most {most:,}"
            raise ModelError(f"{name} of a workload must be {limit}, got {value:,}")
    cluster, jobs = PROFILES[profile](variant, num_jobs, num_servers, seed, horizon_slots, slot_ms, **options)
    return cluster, [completed(job) for job in jobs]
