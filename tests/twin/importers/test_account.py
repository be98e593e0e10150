"""Every line of a file is accounted for, and a unit that cannot be right is doubted."""

import io

import pytest

from twin.traces.importers import ImportRefused, Reading, Upload, formats, parse, read
from twin.traces.importing.drafts import Read, ReadOptions, Skipped, Source
from twin.traces.importing.report import check_lines

TIRESIAS = "job_id,num_gpu,submit_time,iterations,model_name,duration\n"
SPEC = "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,{},4,64,256\n"


def uploads(tmp_path, **texts):
    found = []
    for name, text in texts.items():
        path = tmp_path / name
        path.write_text(text)
        found.append(Upload(path, name.replace("_", ".")))
    return found


def gangs(count, gap, duration):
    return TIRESIAS + "".join(f"{n},1,{n * gap},10,vgg16,{duration}\n" for n in range(count))


def test_stray_quotes_cost_their_own_rows_only(tmp_path):
    """40 rows with a quote in line 15 and one in line 40 gave 15 rows, 14 imported and 1 skipped."""
    lines = gangs(40, 5, 60).splitlines(keepends=True)
    for line in (15, 40):
        lines[line - 1] = lines[line - 1].replace(",vgg16", ',"vgg16')
    report = read(uploads(tmp_path, a_csv="".join(lines))).report
    assert (report["lines"], report["rows"], report["jobs"]) == (41, 40, 38)
    assert report["skipped_counts"] == {"unreadable_quotes": 2}
    assert [row["line"] for row in report["skipped"]] == [15, 40]


def test_lines_of_several_files_are_headers_comments_blank_lines_and_rows(tmp_path):
    log = "; Version: 2.2\n;\n1 0 0 60 4 -1 -1 4 -1 -1 1 1 1 -1 1 1 -1 -1\n\n2 1 0 0 4 -1 -1 4 -1 -1 1 1 1 -1 1 1 -1 -1"
    report = read(uploads(tmp_path, a_swf=log, b_machines="# n\n1\tx\t2\t8\t1.0\t1024\n")).report
    assert (report["lines"], report["rows"], report["jobs"]) == (7, 4, 1)


def test_a_reader_that_loses_a_line_is_found_out():
    source = Source("a.csv", io.BytesIO(), 9, lines=5)
    assert check_lines([source], 3, 2) == 5
    with pytest.raises(ImportRefused, match=r"a\.csv: 5 lines, but 3 rows and 1 other lines were read"):
        check_lines([source], 3, 1)


def test_a_reader_that_loses_a_row_is_found_out(tmp_path, monkeypatch):
    module = formats()["tiresias"]
    whole = module.read

    def losing(sources, options):
        found = whole(sources, options)
        found.rows += 1
        options.others.count -= 1
        return found

    monkeypatch.setattr(module, "read", losing)
    with pytest.raises(ImportRefused, match="3 rows read, but 2 jobs, 0 merged and 0 skipped rows do not add up"):
        read(uploads(tmp_path, a_csv=gangs(2, 5, 60)))


@pytest.mark.parametrize(
    ("unit", "arrivals", "run_ms"),
    [(None, [0, 5_000], 60_000), ("min", [0, 300_000], 3_600_000), ("ms", [0, 5], 60), ("us", [0, 0], 1)],
)
def test_the_numbers_of_a_recognized_file_may_be_in_another_unit(tmp_path, unit, arrivals, run_ms):
    (part,) = parse(uploads(tmp_path, a_csv=gangs(2, 5, 60)), reading=Reading(time_unit=unit))
    assert part.read.drafts.arrival_ms.tolist() == arrivals
    assert part.read.drafts.run_ms.tolist() == [run_ms] * 2
    said = [note for note in part.read.notes if "as selected, not as seconds" in note]
    assert len(said) == (unit is not None)


def test_targets_and_limits_are_in_the_unit_too(tmp_path):
    text = "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n1,10,9,vgg16,40,64,4,5\n"
    (part,) = parse(uploads(tmp_path, a_csv=text), reading=Reading(time_unit="min"))
    assert part.read.drafts.known["target_ms"].tolist() == [1_800_000]


@pytest.mark.parametrize(
    ("text", "unit", "sentence"),
    [
        (gangs(2, 5, 10**9), "d", "in this unit a job runs for 2,732,240 years and the arrivals span 0"),
        ("JobID|Submit|Start|End|State\n", "s", "time_unit does not apply to the format Slurm accounting"),
    ],
)
def test_a_unit_that_cannot_be_is_refused(tmp_path, text, unit, sentence):
    with pytest.raises(ImportRefused, match=sentence):
        parse(uploads(tmp_path, a_csv=text), reading=Reading(time_unit=unit))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"time_unit": "weeks"}, "time_unit must be one of us, ms, s, min, h, d, got 'weeks'"),
        ({"cpu_jobs": "maybe"}, "cpu_jobs must be one of keep, skip, got 'maybe'"),
        ({"time_zone": "Mars/Olympus"}, "time_zone must be a name such as Europe/Berlin, got 'Mars/Olympus'"),
    ],
)
def test_unknown_options_of_reading_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Reading.of(options)


@pytest.mark.parametrize(
    ("jobs", "nodes", "warnings"),
    [
        (gangs(30, 60, 600), 10, []),
        (gangs(30, 60, 600), 5_000,
         ["The load is 0.00038 of the capacity of the trace's own servers, less than 1 %."]),
        (gangs(30, 2, 10**6).replace(",1,", ",900,"), 1,
         ["All 30 jobs arrive within 58 s, but the median run time is 11.6 days.",
          "The load is 6.7e+03 of the capacity of the trace's own servers, more than 100 times."]),
        (gangs(30, 60, 0.5), 10, ["The median run time is 500 ms, shorter than 1 s.",
                                  "The load is 0.00022 of the capacity of the trace's own servers, less than 1 %."]),
        (gangs(30, 10**8, 10**7), 1, ["The median run time is 116 days, longer than 60 days.",
                                      "The arrivals span 91.7 years."]),
        (gangs(5, 60, 0.5), 5_000, []),
    ],
    ids=["plausible", "idle", "overloaded", "short", "long", "few"],
)  # fmt: skip
def test_what_is_implausible_for_the_unit_is_doubted(tmp_path, jobs, nodes, warnings):
    report = read(uploads(tmp_path, jobs_csv=jobs, spec_csv=SPEC.format(nodes))).report
    assert report["warnings"] == [f"{text} Check the unit of the times." for text in warnings]


def test_what_cannot_be_printed_is_escaped_in_the_list_of_skipped_rows():
    skipped = Skipped()
    skipped.add(3, "unreadable_name", "a\x1b[31mred\x00\u202e")
    assert skipped.listed[0]["value"] == "a\\x1b[31mred\\x00\\u202e"
    assert ReadOptions().others.count == Read(0, skipped).lines == 0
