"""Refusals to delete what is in use: they name what uses it."""

from tests.dashboard.builders import post
from twin.models import Trace
from twin.studies import sweeps


def test_a_trace_in_use_is_not_deleted(operator, make_scenario):
    base = make_scenario()
    answer = operator.delete(f"/api/traces/{base.trace_id}/")
    assert answer.status_code == 409
    assert answer.json()["detail"] == f"Still used by scenario {base.pk} ({base.name}); delete those first."
    assert Trace.objects.filter(pk=base.trace_id).exists()


def test_what_uses_a_cluster_is_named_and_a_sweep_stands_for_its_scenarios(operator, make_scenario):
    first = make_scenario()
    body = {"cluster": first.cluster_id, "trace": first.trace_id, "scheduler": "fifo"}
    more = [post(operator, "/api/scenarios/", {**body, "name": f"s{n}"}).json()["id"] for n in range(6)]
    sweep = sweeps.start(first, "grid", [{"parameter": "model", "values": ["oasis", "pd-ors"]}], [0], None)
    said = operator.delete(f"/api/clusters/{first.cluster_id}/").json()["detail"]
    names = [first.name, *(f"s{n}" for n in range(6))]
    shown = ", ".join(f"{number} ({name})" for number, name in list(zip([first.pk, *more], names, strict=True))[:5])
    assert said == f"Still used by scenarios {shown} and 2 more and sweep {sweep.pk} (grid); delete those first."
