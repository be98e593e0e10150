"""Table of metrics: key, title, unit, direction and definition of each, in display order.

The run page, comparisons, sweeps, GET /api/metrics/ and docs/metrics.md read this table. A key is the path of the value
in the metrics of summary.json, with dots between its parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduling.model.values import RESOURCE_TITLES, RESOURCES

HIGHER, LOWER = "higher", "lower"
UNITS = ("", "ms", "share", "x")  # a plain number, milliseconds, a share from 0 to 1, a multiple
RUN, COMPARISON, JOB = "run", "comparison", "job"


@dataclass(frozen=True)
class Metric:
    """Row of the table.

    direction: the better direction, or None. scope: `run` metrics are in summary.json if the execution model has them,
    `comparison` metrics are computed in comparisons, `job` metrics describe a single job.
    """

    key: str
    title: str
    unit: str
    direction: str | None
    definition: str
    scope: str = RUN


_SLOWDOWN = (
    "over the completed jobs of (completion − arrival) / least completion time of the job alone on the empty cluster, "
    "as it was when the job arrived; alone, its chunks may use all workers of its type, so the slowdown of a job "
    "with a fixed number of workers can exceed 1 without any waiting, and edits after its arrival can make it less "
    "than 1; runs in which a job would take a different time alone are not ranked by it."
)

_OF_GROUPS = (
    "time / (machines × time) over all machines, including idle ones, from the first arrival to the last completion, "
    "computed from the iterations that the jobs complete; time for moves, disk reads and garbage collection does not "
    "count as busy, and a machine does not count while it is unavailable; "
)

_IN_PHASES_OF = "if edits change the execution model, it covers the phases of"
_OF_GROUPED = f"{_IN_PHASES_OF} co-location groups only."
_OF_TYPED = f"{_IN_PHASES_OF} typed workers only."

METRICS = (
    Metric("total_utility", "Total utility", "", HIGHER,
           "Sum of the utilities u(d) of completed jobs; d: whole slots from the first slot that the job may use to "
           "the slot in which it completes."),
    Metric("certificate_ratio", "Proved share of the optimum", "share", HIGHER,
           "Proved ratio to the optimum: achieved / upper bound for total utility, lower bound / achieved for total "
           "completion time and makespan; runs with the same jobs, cluster and training model use the tightest of "
           "their bounds; other ratios are not ranked.",
           COMPARISON),
    Metric("jobs", "Arrived jobs", "", None, "Number of jobs that have arrived."),
    Metric("admitted", "Admitted jobs", "", HIGHER, "Number of jobs whose first decision is to admit or start them."),
    Metric("rejected", "Rejected jobs", "", LOWER,
           "Number of jobs that are rejected, on arrival or later."),
    Metric("completed", "Completed jobs", "", HIGHER,
           "Number of jobs whose work is done; on a real cluster, number of jobs that have ended in any way."),
    Metric("mean_jct_ms", "Mean JCT", "ms", LOWER, "Mean of completion − arrival over the completed jobs."),
    Metric("median_jct_ms", "Median JCT", "ms", LOWER, "Median of completion − arrival over the completed jobs."),
    Metric("p95_jct_ms", "95th percentile of JCT", "ms", LOWER,
           "95th percentile of completion − arrival over the completed jobs."),
    Metric("common_jct_ms", "Mean JCT of common jobs", "ms", LOWER,
           "Mean of completion − arrival over the jobs that are completed in all runs compared in full and that no "
           "edit changed; comparable between runs that admit different numbers of jobs.",
           COMPARISON),
    Metric("makespan_ms", "Makespan", "ms", LOWER, "Last completion − first arrival."),
    Metric("lanes.mean_slowdown", "Mean slowdown", "x", LOWER,
           f"Mean {_SLOWDOWN}"),
    Metric("lanes.median_slowdown", "Median slowdown", "x", LOWER,
           f"Median {_SLOWDOWN}"),
    Metric("lanes.p95_slowdown", "95th percentile of slowdown", "x", LOWER,
           f"95th percentile {_SLOWDOWN}"),
    Metric("mean_delay_factor", "Mean delay factor", "x", LOWER,
           "Mean over the completed jobs of (completion − arrival) / time with at least one worker; 1 means no "
           "waiting.",
           COMPARISON),
    Metric("mean_wait_ms", "Mean wait", "ms", LOWER, "Mean of first worker − arrival over the jobs that have started.",
           COMPARISON),
    Metric("suspensions", "Suspensions", "", LOWER,
           "Number of intervals without a worker between the worker bars of a chunk, or of a job without chunks."),
    Metric("lanes.job_suspensions", "Job suspensions", "", LOWER,
           "Number of intervals in which no worker of a started, uncompleted job ran."),
    Metric("preemptions", "Preemptions", "", LOWER, "Number of decisions that stop a running job.", COMPARISON),
    Metric("lanes.communication_ms", "Communication time", "ms", LOWER, "Upload time + reload time + exchange time."),
    Metric("lanes.upload_ms", "Upload time", "ms", LOWER,
           "Sum over the chunks of the time of one upload to its server."),
    Metric("lanes.transfer_ms", "Reload time", "ms", LOWER,
           "Total time in which gangs load their data on another server."),
    Metric("lanes.exchange_ms", "Exchange time", "ms", LOWER,
           "Total time that workers spend on parameter exchange: 2q/b per mini-batch, with gradient size q and "
           "bandwidth b, or 0 for jobs that are wholly in the unlimited cloud."),
    Metric("lanes.cloud_chunks", "Chunks in the unlimited cloud", "", None,
           "Number of chunks with a worker in the unlimited cloud, not on a server whose site is the cloud; a job "
           "without chunks counts as one."),
    Metric("lanes.mean_busy", "Worker occupancy", "share", HIGHER,
           "Busy time of workers on servers / available time of workers there, from the first arrival to the end of "
           f"the last of these workers; {_OF_TYPED}"),
    Metric("lanes.peak_busy", "Peak worker occupancy", "share", HIGHER,
           "Largest share of the workers that are busy at one time; edits can change their number."),
    Metric("lanes.busy", "Worker occupancy by type", "share", HIGHER,
           "Worker occupancy for each site and worker type."),
    Metric("groups.cpu_utilization", "CPU utilization", "share", HIGHER,
           f"Computation {_OF_GROUPS}{_OF_GROUPED}"),
    Metric("groups.net_utilization", "Network utilization", "share", HIGHER,
           f"Communication {_OF_GROUPS}{_OF_GROUPED}"),
    Metric("groups.mean_jobs", "Mean jobs in groups", "", None,
           "Mean over time of the number of jobs in groups, from the first arrival to the last completion; "
           f"{_OF_GROUPED}"),
    Metric("groups.mean_groups", "Mean number of groups", "", None,
           "Mean over time of the number of groups, from the first arrival to the last completion; "
           f"{_OF_GROUPED}"),
    Metric("groups.mean_parallelism", "Degree of parallelism", "", None,
           f"Mean over groups and time of the number of machines of a group; {_OF_GROUPED}"),
    Metric("groups.regroupings", "Regroupings", "", LOWER, "Number of regrouping decisions."),
    Metric("groups.moves", "Moves", "", LOWER,
           "Number of times at which a running job changed its group, or its group changed machines with a delay; "
           "machines that are reassigned without a delay, as under Isolated, do not count."),
    *(
        Metric(f"utilization.{name}", f"{title} allocation", "share", HIGHER,
               f"{title} held × time / (capacity × time), from the first arrival to the end of the last bar; a "
               "server has no capacity while it is unavailable, and what jobs hold there does not count; resources "
               "that the execution model does not count have no value; if edits change the scheduler, it covers the "
               "phases that count the resource only.")
        for name, title in zip(RESOURCES, RESOURCE_TITLES, strict=True)
    ),
    Metric("gpu_hours", "GPU hours", "", None,
           "GPUs held × time in hours, within the window of a set of shadows.", COMPARISON),
    Metric("decision_p95_ms", "95th percentile of decision time", "ms", LOWER,
           "95th percentile of the wall time of a decision on the machine that ran the scheduler.", COMPARISON),
    Metric("jct_ms", "JCT", "ms", LOWER, "Completion − arrival of a job.", JOB),
    Metric("delay_factor", "Delay factor", "x", LOWER,
           "(Completion − arrival) of a job / time in which it has at least one worker.", JOB),
    Metric("utility", "Utility", "", HIGHER,
           "Utility u(d) of a job, 0 until it completes; d: whole slots from the first slot that it may use to the "
           "slot in which it completes.", JOB),
)  # fmt: skip
BY_KEY: Mapping[str, Metric] = {metric.key: metric for metric in METRICS}


def value_of(metrics: Mapping[str, Any], key: str) -> Any:
    """Value of a key in the metrics of a run, or None."""
    value: Any = metrics
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
