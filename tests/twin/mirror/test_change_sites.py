"""Another site rule for a cluster that is followed: the run goes on, its servers change."""

from __future__ import annotations

import pytest

from tests.twin.builders import run as command
from tests.twin.mirror.builders import Log, kinds, polled, running
from tests.twin.mirror.builders_stored import POLLS, following
from twin.connectors.facts_json import dumps
from twin.eventlog import event_log
from twin.eventlog.additions import of_run
from twin.mirror import follower, stored
from twin.mirror.nodes.sites import SiteRule
from twin.mirror.whatif.moments import moment_of
from twin.models import AuditEntry, Connection, Run


def sites(run: Run) -> list[str]:
    return [server.site for server in of_run(run)[0].servers]


def followed() -> Connection:
    parameters = {"path": "/recorded", "speed": 1.0}
    connection = Connection.objects.create(name="lab", connector="replay", parameters=parameters)
    following(connection, POLLS[0]).apply(POLLS[0])
    connection.refresh_from_db()
    Run.objects.update(lease_until=None)
    return connection


def test_the_next_look_writes_the_sites_of_another_rule_once():
    log = Log()
    log.apply(polled(10, running("1", 5)))
    log.mirror.sites = SiteRule(edge_by="name", edge_pattern="cloud.*")
    events = log.apply(polled(11, running("1", 5)))
    assert kinds(events) == ["server_set", "server_set"]
    assert [data["fields"]["site"] for _, data in events] == ["cloud", "edge"]
    assert log.apply(polled(12, running("1", 5))) == []


def test_a_look_without_nodes_and_a_node_that_is_gone():
    log = Log()
    log.apply(polled(10))
    log.mirror.sites = SiteRule(edge_pattern="")
    assert log.apply(polled(11, nodes=None)) == []
    events = log.apply(polled(12, nodes=polled(12).nodes[1:]))
    assert [data["fields"]["site"] for kind, data in events if kind == "server_set"] == ["cloud"]


@pytest.mark.django_db
def test_a_follower_that_begins_again_keeps_the_run_and_writes_the_new_sites():
    connection = followed()
    run, before = connection.run, connection.run.last_seq
    assert sites(run) == ["edge", "cloud"]
    Connection.objects.update(sites={"edge_by": "name", "edge_pattern": "cloud.*"})
    following(connection, POLLS[1]).apply(POLLS[1])
    connection.refresh_from_db()
    assert connection.run == run
    assert sites(run) == ["cloud", "edge"]
    events = [event for batch in event_log.after(run.pk, before) for event in batch]
    assert [event.kind for event in events].count("server_set") == 2
    run.refresh_from_db()
    earlier, now = moment_of(run, stored.first_ms(run)), moment_of(run)
    assert [server.site for server in earlier.servers] == ["edge", "cloud"], "a cut takes the sites of its moment"
    assert [server.site for server in now.servers] == ["cloud", "edge"]
    Run.objects.update(lease_until=None)
    following(connection, POLLS[1]).apply(POLLS[1])
    run.refresh_from_db()
    assert run.last_seq == events[-1].seq, "a restart writes nothing more"


@pytest.mark.django_db
def test_records_without_a_site_are_written_again_once():
    connection = followed()
    mirror = stored.load(connection)
    for known in mirror.nodes.values():
        known.site = ""
    assert kinds(mirror.apply(POLLS[0])) == ["server_set", "server_set"]
    assert mirror.apply(POLLS[0]) == []


@pytest.mark.django_db
def test_the_follower_restarts_for_another_rule():
    connection = Connection.objects.create(name="lab", connector="replay", parameters={"path": "/none"})
    one = follower.Follower(follower.threading.Event())
    one.refresh()
    thread = one.threads[connection.pk]
    Connection.objects.update(sites={"edge_by": "name", "edge_pattern": "x"})
    one.refresh()
    assert thread.over.is_set()
    one.stop.set()
    thread.join(30)


@pytest.mark.django_db
def test_the_command_changes_only_what_is_given(tmp_path):
    connection = followed()
    words = ("connect", "replay", "--name", "lab", "--change")
    result = command(*words, "--site", "edge_by=name", "--site", "edge_pattern=.*1", "--interval-ms", "3000")
    assert result == (0, ["lab: changed; 2 nodes at the edge, 0 in the cloud"], [])
    connection.refresh_from_db()
    assert connection.sites == {"edge_by": "name", "edge_pattern": ".*1"}
    assert (connection.parameters["path"], connection.interval_ms) == ("/recorded", 3_000)
    entry = AuditEntry.objects.get(action="connection.change")
    assert (entry.user, set(entry.detail["changed"].split(", "))) == (
        None,
        {"edge_by", "edge_pattern", "interval_ms"},
    )
    recording = tmp_path / "cluster.jsonl"
    recording.write_bytes(dumps(polled(1)) + b"\n")
    code, lines, _ = command(*words, "--param", f"path={recording}")
    assert (code, lines[0]) == (0, "version recording"), "other parameters are tested first"
    connection.refresh_from_db()
    assert (connection.parameters["path"], connection.sites["edge_pattern"]) == (str(recording), ".*1")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("replay", "--name", "plant"), "no cluster is connected under the name plant; known: lab"),
        (("slurm", "--name", "lab"), "lab is followed by replay, not slurm; remove it and connect it again"),
        (("replay", "--name", "lab", "--site", "edge_pattern=("), "edge_pattern must be a regular expression"),
        (("replay", "--name", "lab", "--param", "path=/none"), "the recording /none cannot be read"),
    ],
)
def test_a_change_that_is_refused_changes_nothing(words, message):
    Connection.objects.create(name="lab", connector="replay", parameters={"path": "/recorded"})
    code, _, errors = command("connect", *words, "--change")
    assert (code, message in errors[0]) == (2, True), errors
    assert not AuditEntry.objects.exists()
