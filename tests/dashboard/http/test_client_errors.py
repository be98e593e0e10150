"""What fails in a browser reaches the server's log: one line an error, quoted, and not too often."""

import pytest

ADDRESS = "/api/client-errors/"
REPORT = {
    "message": "Cannot read properties of undefined",
    "page": "/runs/7/?t=5",
    "stack": "kindsOf@typed-workers.js:16\nmain@run.js:64",
}


def reported(client, **changes):
    return client.post(ADDRESS, REPORT | changes, content_type="application/json")


def test_an_error_is_one_line_of_the_log_with_who_where_what_and_the_stack(viewer, caplog):
    assert reported(viewer).status_code == 204
    (record,) = [record for record in caplog.records if record.name == "dashboard.api.client_errors"]
    assert record.levelname == "ERROR"
    line = record.getMessage()
    assert line.startswith("in the browser of victor at '/runs/7/?t=5': 'Cannot read properties of undefined', ")
    assert "kindsOf@typed-workers.js:16" in line
    assert "\n" not in line, "what a browser sends cannot pass for lines of the log"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"message": ""}, "message"),
        ({"message": "x" * 501}, "message"),
        ({"page": "x" * 501}, "page"),
        ({"stack": "x" * 4_001}, "stack"),
    ],
)
def test_what_is_too_long_or_says_nothing_is_refused_by_name(viewer, caplog, changes, field):
    answer = reported(viewer, **changes)
    assert (answer.status_code, list(answer.json())) == (400, [field, "detail"])
    assert not caplog.records or all(record.levelname != "ERROR" for record in caplog.records)


def test_strangers_and_accounts_without_a_role_write_nothing(client, nobody, caplog):
    assert [reported(client).status_code, reported(nobody).status_code] == [403, 403]
    assert all(record.levelname != "ERROR" for record in caplog.records)


def test_one_page_in_a_loop_does_not_fill_the_log(viewer, caplog):
    codes = [reported(viewer).status_code for _ in range(25)]
    assert codes == [204] * 20 + [429] * 5
    assert sum(record.levelname == "ERROR" for record in caplog.records) == 20
