"""Samples of the use of servers, as the log has them: the fields of their rows.

An event `sampled` has ``rows``, [server, SAMPLE_FIELDS] of the servers with a new sample, and ``use``, [USE_FIELDS] of
each site: the sum over its servers whose newest sample still counts. Amounts are in the units of capacities
(thousandths of GPUs and CPUs, MB of memory); UNKNOWN where a sample does not state one.
"""

UNKNOWN = -1
# at_ms: of the sample; gpu: GPUs in use; gpu_busy: mean share of the time in which its GPUs were busy, in thousandths
SAMPLE_FIELDS = ("at_ms", "gpu", "cpu", "memory", "gpu_busy")
SAMPLE_AT = SAMPLE_FIELDS.index("at_ms")
# at_ms, until_ms: the interval for which the sums stand; servers: number of those sampled; gpu_of: capacity of the
# servers whose sample states the amount gpu; busy, busy_of: GPUs that were busy, and those of which it is known
USE_FIELDS = (
    "at_ms", "until_ms", "site", "servers", "gpu", "cpu", "memory", "busy", "gpu_of", "cpu_of", "memory_of", "busy_of",
)  # fmt: skip
SUMMED = USE_FIELDS[USE_FIELDS.index("servers") :]  # sums over the servers
