"""The Philly job log and server list: each messy case of the published files in a few jobs written by hand."""

import json
import random

import pytest

from twin.traces.importers import ImportRefused, read
from twin.traces.importing.parsing import parse
from twin.traces.uploads.openfile import Upload


def attempt(start, end, *machines):
    detail = [{"ip": ip, "gpus": [f"gpu{i}" for i in range(gpus)]} for ip, gpus in machines]
    return {"start_time": start, "end_time": end, "detail": detail}


def job(name, submitted, *attempts, status="Pass", vc="ee9e8c", user="ce2f4c"):
    return {
        "status": status,
        "vc": vc,
        "jobid": name,
        "attempts": list(attempts),
        "submitted_time": submitted,
        "user": user,
    }


def found(tmp_path, *files):
    uploads = []
    for number, content in enumerate(files):
        path = tmp_path / f"upload{number}"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=1).encode())
        uploads.append(Upload(path, f"file{number}"))
    (part,) = parse(uploads)
    return part.read


def reasons(result):
    return [(row["line"], row["reason"]) for row in result.skipped.listed]


TIME = "2017-10-07 01:{:02}:00".format
ONE = ("m1", 1)


def test_the_example_entry_runs_from_its_first_start_to_its_last_end(traces):
    """193,263 s by the publisher's rule, 193,256 s as the sum of the two attempts; 8 GPUs, 30 s in the queue."""
    (part,) = parse(traces / "philly_raw/readme_example_entry.json")
    drafts = part.read.drafts
    assert (drafts.run_ms.tolist(), drafts.workers.tolist(), drafts.keys.tolist()) == (
        [193_263_000],
        [8],
        ["application_1506638472019_14199"],
    )
    assert (drafts.known["group"].tolist(), drafts.known["user"].tolist()) == (["ee9e8c"], ["ce2f4c"])
    assert "the sum of the attempts differs for 1 of 1 job" in part.read.notes[0]
    assert part.read.rows == 1


def test_the_whole_import_gives_a_job_with_its_trace_fields(traces):
    result = read(traces / "philly_raw/readme_example_entry.json")
    (row,) = result.preview
    assert (row["id"], row["requested_workers"], row["worker"]["gpu"]) == ("application_1506638472019_14199", 8, 1)


def test_attempts_may_lack_their_start_their_end_or_both(tmp_path):
    """The first known start and the end of the last attempt count; a last attempt without an end still runs."""
    log = [
        job("first-lacks-start", TIME(0), attempt(None, TIME(2), ONE), attempt(TIME(3), TIME(9), ONE)),
        job("middle-lacks-both", TIME(1), attempt(TIME(1), TIME(2), ONE), attempt("", "None", ONE),
            attempt(TIME(5), TIME(8), ONE)),
        job("last-lacks-start", TIME(2), attempt(TIME(2), None, ONE), attempt("None", TIME(6), ONE)),
        job("last-lacks-end", TIME(3), attempt(TIME(3), TIME(4), ONE), attempt(TIME(5), None, ONE)),
        job("no-attempt", TIME(4), status="Killed"),
        job("null-attempts", TIME(4)) | {"attempts": None},
        job("no-start", TIME(5), attempt("", TIME(6), ONE)),
    ]  # fmt: skip
    result = found(tmp_path, log)
    drafts = result.drafts
    assert drafts.keys.tolist() == ["first-lacks-start", "middle-lacks-both", "last-lacks-start"]
    assert drafts.run_ms.tolist() == [6 * 60_000, 7 * 60_000, 4 * 60_000]
    assert drafts.arrival_ms.tolist() == [0, 60_000, 120_000]
    assert result.skipped.counts == {"no_end": 1, "pending": 2, "no_start": 1}
    assert result.rows == 7 == len(drafts) + len(result.skipped)


def test_the_gpus_are_those_of_the_first_attempt_over_all_its_machines(tmp_path):
    log = [
        job(
            "two-machines",
            TIME(0),
            attempt(TIME(1), TIME(2), ("m1", 8), ("m2", 4)),
            attempt(TIME(3), TIME(4), ("m1", 1)),
        ),
        job("later", TIME(1), attempt(TIME(1), TIME(2)), attempt(TIME(3), TIME(4), ("m1", 2))),
        job("none", TIME(2), attempt(TIME(1), TIME(2))),
    ]
    result = found(tmp_path, log)
    assert result.drafts.workers.tolist() == [12, 2]
    assert result.skipped.counts == {"no_gpu": 1}
    assert any(
        note.startswith("The first attempt with GPUs is used where the first attempt has none: 1 job.")
        for note in result.notes
    )


def test_bad_jobs_are_skipped_with_the_line_they_begin_in(tmp_path):
    good = attempt(TIME(1), TIME(2), ONE)
    lines = [
        job("a", TIME(0), good), job("a", TIME(0), good), job("b", TIME(0), good, status="Running"),
        job("c", "yesterday", good), job("d", TIME(0), attempt(TIME(2), TIME(1), ONE)),
        job("e", TIME(0), attempt("soon", TIME(2), ONE)), job("f g", TIME(0), good), 7, job(None, TIME(0), good),
        job("h", None, good), job("i", TIME(0)) | {"attempts": "none"},
        job("j", TIME(0), attempt(TIME(1), "2017", ONE)),
        job("k", TIME(0), {"start_time": 5, "end_time": {}, "detail": [{"ip": 3, "gpus": "gpu0"}, 4]}),
    ]  # fmt: skip
    text = "[\n" + ",\n".join(json.dumps(line) for line in lines) + "]"
    result = found(tmp_path, text.encode())
    assert result.drafts.keys.tolist() == ["a"]
    assert sorted(reasons(result)) == [
        (3, "duplicate_id"), (4, "unknown_status"), (5, "unreadable_submitted_time"), (6, "run_not_positive"),
        (7, "unreadable_start_time"), (8, "unreadable_name"), (9, "unreadable_cell"), (10, "unreadable_name"),
        (11, "unreadable_submitted_time"), (12, "pending"), (13, "unreadable_end_time"), (14, "no_gpu"),
    ]  # fmt: skip


def test_jobs_come_by_arrival_and_vcs_stay_text(tmp_path):
    log = [
        job("late", TIME(9), attempt(TIME(10), TIME(11), ONE), vc="103959"),
        job("early", TIME(1), attempt(TIME(2), TIME(3), ONE), vc="6e1234", user="None"),
    ]
    drafts = found(tmp_path, log).drafts
    assert (drafts.keys.tolist(), drafts.arrival_ms.tolist()) == (["early", "late"], [0, 480_000])
    assert (drafts.known["group"].tolist(), drafts.known["user"].tolist()) == (["6e1234", "103959"], ["", "ce2f4c"])


def test_the_hour_that_came_twice_makes_no_run_negative(tmp_path):
    """01:50 to 01:10 is 20 minutes over the change; 00:30 to 03:30 by the clock counts as 3 h and was 4."""
    log = [
        job("within", "2017-11-05 01:45:00", attempt("2017-11-05 01:50:00", "2017-11-05 01:10:00", ONE)),
        job("across", "2017-11-05 00:20:00", attempt("2017-11-05 00:30:00", "2017-11-05 03:30:00", ONE)),
    ]
    result = found(tmp_path, log)
    assert dict(zip(result.drafts.keys, result.drafts.run_ms.tolist(), strict=True)) == {
        "across": 3 * 3_600_000,
        "within": 20 * 60_000,
    }
    assert any("Jobs that ran in or across it: 2" in note for note in result.notes)


def test_the_machine_list_alone_is_a_cluster(tmp_path):
    """A blank stands before 24GB; a name that comes twice and a count that is no number are skipped."""
    result = found(
        tmp_path, b"m31,8, 24GB\r\nm32,2, 12GB\r\nm31,2, 12GB\r\nm33,two, 12GB\r\nm 34,2, 12GB\r\nm35,2, 12GB"
    )
    assert [(server.name, server.capacity[0]) for server in result.cluster.servers] == [
        ("m31", 8000),
        ("m32", 2000),
        ("m35", 2000),
    ]
    assert result.skipped.counts == {"duplicate_id": 1, "unreadable_gpus": 1, "unreadable_name": 1}
    assert (result.drafts, result.rows) == (None, 6)


def test_jobs_on_gpus_that_the_machine_list_lacks_give_a_warning(tmp_path):
    """m51 has 2 GPUs in the list and 8 in use; m99 is not in the list at all. Only these two jobs are reported."""
    log = [
        job("a", TIME(0), attempt(TIME(1), TIME(2), ("m51", 8))),
        job("b", TIME(1), attempt(TIME(1), TIME(2), ("m1", 1)), attempt(TIME(3), TIME(4), ("m99", 1))),
        job("c", TIME(2), attempt(TIME(1), TIME(2), ("m1", 8))),
    ]
    result = found(tmp_path, log, b"m51,2, 12GB\nm1,8, 24GB\n")
    (warning,) = [note for note in result.notes if note.startswith("Warning")]
    assert (
        "2 jobs used GPUs that are not in the server list, on 2 servers (m51 8 used "
        "and 2 listed, m99 1 used and 0 listed)" in warning
    )
    assert len(result.drafts) == 3
    assert len(result.cluster.servers) == 2
    assert result.rows == 5


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[{"jobid":"a","attempts":[],"submitted_time":"x"},', "line 1: the JSON is incomplete or invalid"),
        ('[{"jobid":"a","attempts":[],"submitted_time":"x"}', "line 1: the array is incomplete"),
        ('[{"jobid":"a","attempts":[],"submitted_time":"x"}]\n]', "line 2: unexpected text after the end of the array"),
        ('[{"jobid":"a","attempts":[],"submitted_time":"x"}\n{}]',
         "line 2: a comma or the end of the array is missing"),
        ('[{"jobid":"a","attempts":[],\n"submitted_time":"x}]', "line 2: the JSON is incomplete or invalid"),
        ('[{"jobid":"a","attempts":[],"submitted_time":"x"}]',
         "1 row read, no job found; line 1: unknown status"),
        ('[{"jobid":"a","attempts":' + "[" * 100_000, "file0: line 1: "),
        ('[{"attempts":1,"jobid":' + "9" * 5000 + "}]", "line 1: a value is nested too deeply or has too many digits"),
        ('{"attempts": "\\ud800", "jobid": "\\ud800", "submitted_time": 1e400}', "1 row read, no job found"),
    ],
)  # fmt: skip
def test_a_broken_log_is_refused_in_one_sentence(tmp_path, text, sentence):
    with pytest.raises(ImportRefused) as refusal:
        found(tmp_path, text.encode())
    assert sentence in str(refusal.value)


def test_a_log_longer_than_a_block_is_read_whole(tmp_path):
    """1,500 jobs of uneven length in 1 MB and more: values, line ends and wide characters fall on block ends."""
    rng = random.Random(1)
    log = []
    for number in range(1500):
        tries = [attempt(TIME(number % 50), TIME(number % 50 + 1), ("m1", 8)) for _ in range(rng.randint(1, 6))]
        log.append(job(f"j{number}", TIME(number % 50), *tries, user="ü€" * rng.randint(1, 50)))
    text = json.dumps(log, indent=rng.choice([None, 1]), ensure_ascii=False).encode()
    assert len(text) > 1_000_000
    result = found(tmp_path, text)
    assert (len(result.drafts), result.rows, len(result.skipped)) == (1500, 1500, 0)
