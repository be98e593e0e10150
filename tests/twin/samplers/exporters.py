"""Text that dcgm-exporter and node_exporter serve, for nodes that are made up."""

from __future__ import annotations

DCGM = 'gpu="{gpu}",UUID="GPU-{node}-{gpu}",device="nvidia{gpu}",modelName="NVIDIA A100-SXM4-80GB",Hostname="{node}"'


def dcgm(node: str, busy: list[float], used_mb: list[float], whole_mb: int = 80_000) -> str:
    """GPUs of one node: percent busy, MiB in use."""
    lines = []
    for name, values in (
        ("UTIL", busy),
        ("FB_USED", used_mb),
        ("FB_FREE", [whole_mb - used for used in used_mb]),
    ):
        metric = f"DCGM_FI_DEV_{'GPU_UTIL' if name == 'UTIL' else name}"
        lines.append(f"# TYPE {metric} gauge")
        lines += [f"{metric}{{{DCGM.format(gpu=gpu, node=node)}}} {value}" for gpu, value in enumerate(values)]
    return "\n".join(lines) + "\n"


def node(cpus: int, busy_s: float, idle_s: float, total: float, available: float) -> str:
    """A node whose CPUs were busy and idle for so many seconds each since it started."""
    lines = ["# TYPE node_cpu_seconds_total counter"]
    for cpu in range(cpus):
        for mode, seconds in (("user", busy_s * 0.75), ("system", busy_s * 0.25), ("idle", idle_s), ("iowait", 0)):
            lines.append(f'node_cpu_seconds_total{{cpu="{cpu}",mode="{mode}"}} {seconds}')
    lines += ["# TYPE node_memory_MemTotal_bytes gauge", f"node_memory_MemTotal_bytes {total}"]
    lines += ["# TYPE node_memory_MemAvailable_bytes gauge", f"node_memory_MemAvailable_bytes {available}"]
    return "\n".join(lines) + "\n"
