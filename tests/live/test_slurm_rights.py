"""An account that may see only its own jobs, on a real Slurm: the test reports it, and no job ends because of it."""

import pytest

from tests.live.slurm_cluster import AS_NOBODY, NEEDS_SECOND_ACCOUNT, until, with_second_account
from twin.connectors import facts
from twin.mirror.differ import Mirror, epoch_of
from twin.mirror.following import Following

pytestmark = [pytest.mark.slow, *NEEDS_SECOND_ACCOUNT]
SAID = "this account (nobody) sees only its own jobs, because PrivateData in slurm.conf names jobs"
GRANT = "sacctmgr modify user nobody set adminlevel=operator"


@pytest.fixture(scope="module")
def running_cluster():
    with with_second_account(29_100, "PrivateData=jobs\nMinJobAge=2\n") as found:
        yield found


@pytest.fixture
def cluster(running_cluster):
    may_see_all(running_cluster, False)
    yield running_cluster
    running_cluster.clear()


def may_see_all(cluster, so):
    level = "operator" if so else "none"
    cluster.run("bash", "-c", f"sacctmgr -i modify user nobody set adminlevel={level} || true")
    wanted = "Operator" if so else "None"
    until(
        lambda: cluster.run("sacctmgr", "-n", "-P", "show", "user", "nobody", "format=AdminLevel").strip() == wanted,
        f"the level of nobody is {wanted}",
    )


def shown(cluster):
    """The jobs that the account's own squeue shows."""
    return set(cluster.run(*AS_NOBODY.split(), "squeue", "-h", "-o", "%A").split())


def own_job(cluster):
    return cluster.run(
        *AS_NOBODY.split(), "sbatch", "--parsable", "-D", "/tmp", "-o", "/dev/null", "--wrap=sleep 600"
    ).strip()


def test_an_account_that_sees_only_its_own_jobs_is_told_so(cluster):
    other = cluster.sbatch("-t5")
    connector = cluster.connector(prefix=AS_NOBODY)
    empty = connector.snapshot()
    assert (empty.complete, empty.jobs, empty.own, len(empty.nodes)) == (True, (), "nobody", 4)
    assert empty.why.startswith(f"{SAID}: `{GRANT}` lets it see all")
    own = own_job(cluster)
    snapshot = until(lambda: found if (found := connector.snapshot()).jobs else None, "the own job is seen")
    assert ([job.key for job in snapshot.jobs], snapshot.own) == ([own], "nobody")
    findings = {finding.subject: finding for finding in connector.check().findings}
    assert (findings["jobs"].well, findings["jobs"].needed, findings["PrivateData"].well) == (False, False, False)
    assert findings["jobs"].message.endswith(SAID)
    assert f"`{GRANT}`" in findings["jobs"].remedy
    may_see_all(cluster, True)
    whole = until(lambda: found if len((found := connector.snapshot()).jobs) == 2 else None, "both jobs are seen")
    assert ({job.key for job in whole.jobs}, whole.own, whole.why) == ({own, other}, "", "")
    findings = {finding.subject: finding for finding in connector.check().findings}
    assert (findings["jobs"].well, findings["PrivateData"].well) == (True, True)
    assert findings["PrivateData"].message == "jobs, which this account sees"


def test_the_command_that_grants_more_for_an_unknown_user(cluster):
    remedy = cluster.connector(prefix=AS_NOBODY).snapshot().why
    assert "`sacctmgr add user nobody account=root adminlevel=operator`" in remedy
    cluster.run("sacctmgr", "-i", "delete", "user", "nobody")
    other = cluster.sbatch("-t5")
    assert shown(cluster) == set()
    cluster.run("sacctmgr", "-i", "add", "user", "nobody", "account=root", "adminlevel=operator")
    until(lambda: shown(cluster) == {other}, "the account sees the job")


def test_rights_that_are_taken_away_end_no_job(cluster):
    may_see_all(cluster, True)
    others, own = {cluster.sbatch("-t5"), cluster.sbatch("-t5"), cluster.sbatch("--hold")}, own_job(cluster)
    until(lambda: shown(cluster) == {*others, own}, "the account sees all")
    connector = cluster.connector(prefix=AS_NOBODY)
    first = connector.snapshot()
    mirror, events = Mirror(epoch_of(first)), []
    following = Following(connector, mirror, lambda batch, _: events.extend(batch), stopped=lambda seconds: True)
    following.apply(first)
    ended = next(iter(others))
    may_see_all(cluster, False)
    until(lambda: shown(cluster) == {own}, "the account sees only its own job")
    for _ in range(3):
        following.apply(connector.snapshot())
    assert {mirror.jobs[index].fact.key for index in mirror.open} == {*others, own}
    assert following.health.note.startswith(SAID)
    cluster.run("scancel", own)
    until(lambda: not shown(cluster), "the own job is forgotten")
    following.apply(connector.snapshot())
    assert {mirror.jobs[index].fact.key for index in mirror.open} == others, "its own jobs end"
    cluster.run("scancel", ended)
    may_see_all(cluster, True)
    until(lambda: shown(cluster) == others - {ended}, "the account sees all again")
    following.apply(connector.snapshot())
    assert {mirror.jobs[index].fact.key for index in mirror.open} == others - {ended}
    (gone,) = [job for job in mirror.jobs if job.fact.key == ended]
    assert gone.fact.outcome in (facts.CANCELLED, facts.LOST)
    assert following.health.note == ""
