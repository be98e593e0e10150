"""The golden log: hand-written events that fold.py and store.js fold to the same state."""

HOUR = 3_600_000
MOVED = HOUR + 1_800_000
# one sampled server at the edge: until_ms, site, servers; GPUs, CPUs, memory, busy GPUs; and of how many
USED = [9 * HOUR, 9 * HOUR + 180_000, 0, 1, 2000, 7250, 12_288, 1660, 4000, 8000, 16_384, 4000]
OLDER = [1, 9 * HOUR - 80_000, 0, 0, 0, -1]
RESERVED = {
    "reservation": 0, "name": "cooling", "from_ms": 8 * HOUR, "until_ms": 10 * HOUR, "servers": [1],
    "maintenance": True, "holders": "",
}  # fmt: skip
PRICES = [1.5, 0.25, 0.01, 0.001, 0.5, None, None, None, None, None]  # [site][resource]: no price in the cloud


# Jobs on two servers: job 0 is admitted, then moved while it runs; job 1 is rejected; job 2
# starts and is unfinished; the plan of job 3 names workers, on one of which job 4, with its
# parameter server in the cloud, comes between; after the edit job 3 has a plan of its own.
def plan(job: int, start_ms: int, finish_ms: int, *bars: list[int]) -> dict:
    return {"scope": "job", "keys": [job], "jobs": [[job, start_ms, finish_ms]], "bars": list(bars)}


STARTED = {
    "scheduler": "oasis",
    "parameters": {},
    "seed": 7,
    "jobs": 5,
    "servers": 2,
    "slot_ms": HOUR,
    "horizon_slots": 8,
}
PLAN = [
    [0, 0, 0, HOUR, 2 * HOUR, 2, -1, -1, -1],
    [0, 1, 1, HOUR, 2 * HOUR, 1, -1, -1, -1],
    [0, 0, 0, 3 * HOUR, 4 * HOUR, 2, -1, -1, -1],
]
EVENTS: list[list] = [
    [1, 0, "run_started", STARTED],
    [2, 0, "priced", {"slots": "all", "low": PRICES, "mean": PRICES, "high": PRICES}],
    [3, 600_000, "job_arrived", {"job": 0}],
    [4, 600_000, "decided", {"job": 0, "kind": "admitted", "code": "payoff_positive", "values": {"payoff": 3.5}}],
    [5, 600_000, "plan_changed", plan(0, HOUR, 4 * HOUR, *PLAN)],
    [
        6,
        600_000,
        "priced",
        {"slots": [1, 3], "low": PRICES * 2, "mean": [2.0] * 10 + [3.0] * 10, "high": [4.0] * 10 + [5.0] * 10},
    ],
    [7, 700_000, "job_arrived", {"job": 1}],
    [8, 700_000, "decided", {"job": 1, "kind": "rejected", "code": "payoff_not_positive", "values": {"payoff": -1.25}}],
    [9, HOUR + 900_000, "job_arrived", {"job": 2}],
    [10, MOVED, "decided", {"job": 0, "kind": "moved", "code": "in_order", "values": {}}],
    [11, MOVED, "plan_changed", plan(0, HOUR, 3 * HOUR, [0, 0, 1, MOVED, 3 * HOUR, 3, 1, 2, 4])],
    [12, 2 * HOUR, "decided", {"job": 2, "kind": "started", "code": "in_order", "values": {}}],
    [13, 2 * HOUR, "plan_changed", plan(2, 2 * HOUR, -1, [2, 0, 0, 2 * HOUR, 5 * HOUR, 1, -1, -1, -1])],
    [14, 3 * HOUR, "job_completed", {"job": 0, "utility": 41.25}],
    [15, 5 * HOUR, "job_arrived", {"job": 3}],
    [
        16,
        5 * HOUR,
        "plan_changed",
        {
            "scope": "worker",
            "keys": [[0, 0, 0], [0, 0, 1], [1, 1, 0]],
            "jobs": [[3, 5 * HOUR, 8 * HOUR]],
            "bars": [
                [3, 0, 0, 5 * HOUR, 7 * HOUR, 1, 0, 0, -1],
                [3, 0, 0, 5 * HOUR, 6 * HOUR, 1, 1, 1, -1],
                [3, 0, 0, 6 * HOUR, 8 * HOUR, 1, 1, 2, -1],
                [3, 1, 1, 5 * HOUR, 8 * HOUR, 1, 0, -1, -1],
            ],
        },
    ],
    [17, 5 * HOUR + 600_000, "job_arrived", {"job": 4}],
    [
        18,
        5 * HOUR + 600_000,
        "plan_changed",
        {
            "scope": "worker",
            "keys": [[0, 0, 1], [1, -2, 4]],
            "jobs": [[3, 5 * HOUR, 9 * HOUR], [4, 5 * HOUR + 600_000, 7 * HOUR]],
            "bars": [
                [4, 0, 0, 5 * HOUR + 600_000, 7 * HOUR, 1, 1, 0, -1],
                [3, 0, 0, 7 * HOUR, 9 * HOUR, 1, 1, 2, -1],
                [4, 1, -2, 5 * HOUR + 600_000, 7 * HOUR, 1, -1, -1, -1],
            ],
        },
    ],
    [19, 8 * HOUR, "grouped", {"group": 0, "servers": [0], "jobs": [3, 4], "machines": 1, "iteration_ms": 9.5}],
    [20, 8 * HOUR, "grouped", {"group": 1, "servers": [1], "jobs": [2], "machines": 1, "iteration_ms": None}],
    [21, 9 * HOUR, "grouped", {"group": 0, "servers": [], "jobs": [], "machines": 0, "iteration_ms": None}],
    [
        22,
        9 * HOUR,
        "edited",
        {
            "phase": 1,
            "said": ["Remove server-1"],
            "scheduler": "oasis",
            "parameters": {},
            "kept": 1,
            "displaced": [],
            "offered": 0,
        },
    ],
    [23, 9 * HOUR, "plan_changed", plan(3, 5 * HOUR, 11 * HOUR, [3, 0, 0, 10 * HOUR, 11 * HOUR, 1, -1, -1, -1])],
    [24, 9 * HOUR, "priced", {"slots": "all", "low": PRICES, "mean": PRICES, "high": PRICES}],
    [25, 9 * HOUR, "priced", {"slots": [9], "low": PRICES[::-1], "mean": PRICES[::-1], "high": PRICES[::-1]}],
    [26, 9 * HOUR, "gap", {"from_ms": 8 * HOUR, "to_ms": 9 * HOUR, "reason": "slurmctld does not answer"}],
    [27, 9 * HOUR, "sampled", {"use": [USED], "rows": [[1, 9 * HOUR - 20_000, 2000, 7250, 12_288, 415]]}],
    [28, 9 * HOUR, "sampled", {"use": [], "rows": [OLDER, [0, 9 * HOUR, -1, 500, 64, -1]]}],
    [29, 9 * HOUR, "reserved", RESERVED],
    [30, 9 * HOUR, "reserved", {**RESERVED, "reservation": 1, "name": "course", "holders": "ann"}],
    [31, 9 * HOUR, "reserved", {**RESERVED, "until_ms": 11 * HOUR, "servers": [0, 1]}],
    [32, 9 * HOUR, "suspensions_set", {"job": 3, "spans": [[5 * HOUR, 6 * HOUR], [7 * HOUR, -1]]}],
    [33, 9 * HOUR, "decided", {"job": 2, "kind": "requeued", "code": "requeued", "values": {"restarts": 1}}],
    [34, 9 * HOUR, "run_finished", {}],
]
