"""What facts about a real cluster say of themselves."""

from twin.connectors.facts import Finding, Found


def test_a_cluster_can_be_followed_without_what_is_not_needed():
    version = Finding("version", well=True, message="22.05.8")
    accounting = Finding("accounting", well=False, message="off", needed=False)
    rights = Finding("rights", well=False, message="none")
    assert Found(findings=(version, accounting)).well
    assert not Found(findings=(version, accounting, rights)).well
