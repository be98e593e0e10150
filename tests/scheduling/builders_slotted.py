"""Small clusters and jobs whose numbers can be checked by hand; a slot is 1,000 ms unless stated otherwise."""

from scheduling.model.values import Cluster, Job, Server, Utility

WORKER = (1_000, 1_000, 1_000, 0, 1_000)  # 1 GPU, 1 vCPU, 1 GB, 1 Gbps
PS = (0, 1_000, 1_000, 0, 2_000)  # serves two workers


def worker_server(name: str, gpus: int = 2) -> Server:
    return Server(name, "edge", (gpus * 1_000, 8_000, 8_000, 8_000, 8_000), ("worker",))


def ps_server(name: str, cpus: int = 8) -> Server:
    return Server(name, "cloud", (0, cpus * 1_000, 8_000, 8_000, 40_000), ("ps",))


def cluster(*servers: Server, horizon: int | None = 10, slot_ms: int = 1_000) -> Cluster:
    return Cluster("small", slot_ms, servers, horizon)


def job(name: str, arrival_ms: int = 0, *, workers: int = 1, slots: int = 1, **changes: object) -> Job:
    """Needs workers * slots worker-slots, so a gang of `workers` runs for `slots` slots; worth 10 / 2 at any time."""
    fields: dict = {
        "epochs": 1, "num_chunks": workers, "minibatches_per_chunk": slots, "minibatch_ms": 1_000.0, "gradient_mb": 0.0,
        "worker": WORKER, "ps": PS, "requested_workers": workers, "utility": Utility(10.0, 0.0, 1.0),
    }  # fmt: skip
    return Job(name, arrival_ms, **(fields | changes))


# a worker and a parameter server of this job each fit there by themselves, but not both: there is one vCPU
ONE_VCPU = cluster(Server("one", "edge", (1_000, 1_000, 8_000, 8_000, 8_000)))
ONE_SAMPLE = {
    "num_samples": 1, "global_batch": 1, "workers_per_ps": 1, "sample_ms": 1.0, "internal_gbps": 1.0,
    "external_gbps": 1.0,
}  # fmt: skip
