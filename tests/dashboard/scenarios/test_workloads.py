"""Workloads sampled from the papers' ranges by API."""

import pytest

from scheduling.model.measured_speed import MeasuredSpeed, trained_at
from scheduling.workloads import ABOUT, PROFILES, generate
from tests.dashboard.builders import post
from twin.files.cluster_json import cluster_to_dict
from twin.files.speed_json import dump_speed
from twin.models import AuditEntry, ClusterSpec
from twin.scenarios.store import jobs_of

SPEED = MeasuredSpeed(2.0, 0.05, 0.7, 4.0, 256, 4, 0.9, 0.01, 0.02)


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


@pytest.mark.parametrize("profile", PROFILES)
def test_jobs_train_at_a_measured_speed(operator, profile):
    given = {"profile": profile, "jobs": 7, "servers": 8, "seed": 3, "speed": dump_speed(SPEED, []).decode()}
    made = post(operator, "/api/workloads/", given).json()["trace"]
    _, jobs = generate(profile, num_jobs=7, num_servers=8, seed=3)
    assert list(jobs_of(made["id"])) == [trained_at(job, SPEED) for job in jobs]
    assert made["name"].endswith("calibrated, 7 jobs, seed 3, measured speed")


@pytest.mark.parametrize("nothing", ["", None])
def test_no_measured_speed_is_none(operator, nothing):
    given = {"profile": "oasis", "jobs": 3, "servers": 2, "speed": nothing}
    made = post(operator, "/api/workloads/", given).json()["trace"]
    assert made["name"].endswith("3 jobs, seed 0")


@pytest.mark.parametrize(
    ("speed", "message"),
    [
        ("{", "measured speed: not JSON: "),
        ("[]", 'measured speed: must be an object with "kind": "measured-speed", as manage.py measure_speed writes it'),
        (dump_speed(SPEED, []).decode().replace("256", "0"), "measured speed: batch must be an integer from 1 to 2^53, "
         "got 0"),
        pytest.param("x" * 1_000_001, "speed must have at most 1000000 characters.", id="too long"),
    ],
)  # fmt: skip
def test_a_wrong_measured_speed_gets_one_clear_message(operator, speed, message):
    answer = post(operator, "/api/workloads/", {"profile": "oasis", "jobs": 3, "servers": 2, "speed": speed})
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(message)
    assert not AuditEntry.objects.exists()


def test_an_unknown_field_is_refused_with_the_known_ones(operator):
    answer = operator.post(
        "/api/workloads/", {"profile": "oasis", "jobs": 5, "sed": 3}, content_type="application/json"
    )
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("sed: unknown field of the body 'sed'")
