"""Cards of templates: texts, sizes, and a small picture of the arrivals."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from scheduling.kernel.registry import schedulers
from twin.studies.gallery.base import Template
from twin.studies.gallery.starting import missing, templates

WIDTH, HEIGHT, BARS = 168, 36, 42


def cards() -> tuple[dict[str, Any], ...]:
    """One card per template. unavailable: why it cannot start, or None."""
    return tuple(_card(template) for template in templates())


def _card(template: type[Template]) -> dict[str, Any]:
    known = schedulers()
    names = [known[name].title if name in known else name for name in (template.scheduler, *template.rivals)]
    return {
        "name": template.name,
        "title": template.title,
        "about": template.about,
        "shows": template.shows,
        "schedulers": names,
        "unavailable": missing(template) or None,
        "names": ", ".join(names),
        **_of_workload(template),
    }


@cache
def _of_workload(template: type[Template]) -> dict[str, Any]:
    """Sizes and picture of a template; workloads do not change, so they are generated once per process."""
    cluster, jobs = template.workload()
    outages = [(edit["at_ms"], edit["for_ms"]) for edit in template.edits if edit["verb"] == "fail_servers"]
    return {
        "jobs": len(jobs),
        "servers": len(cluster.servers),
        "picture": picture([job.arrival_ms for job in jobs], outages),
    }


def picture(arrivals_ms: list[int], outages: list[tuple[int, int]]) -> dict[str, Any]:
    """SVG path of a bar per part of the time, as high as it has arrivals, and [(x, width)] of outages."""
    end = max([1, *(at + 1 for at in arrivals_ms), *(at + length for at, length in outages)])
    counts, _ = np.histogram(arrivals_ms, bins=BARS, range=(0, end))
    step = WIDTH // BARS
    heights = np.ceil(counts / max(1, counts.max()) * (HEIGHT - 4)).astype(int).tolist()
    bars = "".join(f"M{i * step} {HEIGHT}v-{high}h{step - 1}v{high}z" for i, high in enumerate(heights) if high)
    shaded = [(round(at / end * WIDTH), max(1, round(length / end * WIDTH))) for at, length in outages]
    return {"width": WIDTH, "height": HEIGHT, "bars": bars, "outages": shaded}
