"""Workloads drawn from the papers' ranges by API."""

import pytest

from scheduling.workloads import ABOUT, PROFILES, generate
from tests.dashboard.builders import post
from twin.files.cluster_json import cluster_to_dict
from twin.models import AuditEntry, ClusterSpec
from twin.scenarios.store import jobs_of


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_gives_the_jobs_and_the_cluster_of_the_command(operator, profile):
    made = post(operator, "/api/workloads/", {"profile": profile, "jobs": 7, "servers": 8, "seed": 3}).json()
    cluster, jobs = generate(profile, num_jobs=7, num_servers=8, seed=3)
    assert list(jobs_of(made["trace"]["id"])) == jobs
    assert ClusterSpec.objects.get(pk=made["cluster"]["id"]).spec == cluster_to_dict(cluster)
    assert AuditEntry.objects.first().action == "trace.generate"


def test_every_profile_says_what_it_is(viewer):
    rows = viewer.get("/api/workloads/").json()["profiles"]
    assert [row["name"] for row in rows] == list(PROFILES) == list(ABOUT)


def test_only_operators_draw_and_limits_are_said(viewer, operator):
    assert post(viewer, "/api/workloads/", {"profile": "oasis", "jobs": 7}).status_code == 403
    answer = post(operator, "/api/workloads/", {"profile": "oasis", "jobs": 20_001})
    assert (answer.status_code, "20000" in answer.content.decode()) == (400, True)
    assert "best" in post(operator, "/api/workloads/", {"profile": "best", "jobs": 2}).content.decode()
