"""What a process keeps in memory: made once, measured in bytes, bounded, the one used longest ago dropped first."""

from __future__ import annotations

import gc
import sqlite3
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from scheduling.workloads import generate
from twin.files.job_table import JobTable
from twin.files.stored_jobs import StoredJobs
from twin.infra.kept import Kept
from twin.infra.memory_size import measured

MB = 1_000_000


def block(megabytes: int) -> np.ndarray:
    return np.zeros(megabytes * MB, dtype=np.uint8)


def test_the_one_used_longest_ago_goes_first_until_the_bytes_fit():
    kept = Kept(max_bytes=10 * MB)
    made = []

    def use(key: str, megabytes: int) -> None:
        kept.get(key, lambda: made.append(key) or block(megabytes))

    for key in ("a", "b", "c"):
        use(key, 3)
    use("a", 3)
    use("d", 3)  # 12 MB: b is the one that was used longest ago
    assert (made, len(kept)) == (["a", "b", "c", "d"], 3)
    use("a", 3)
    use("b", 3)
    assert made == ["a", "b", "c", "d", "b"]
    assert 9 * MB <= kept.bytes < 10 * MB


def test_many_small_values_stay_beside_one_that_alone_is_too_large():
    kept = Kept(max_bytes=10 * MB)
    for key in range(1000):
        kept.put(key, block(0))
    assert len(kept) == 1000
    kept.put("large", block(11))
    assert len(kept) == 1001
    kept.put("larger", block(12))
    assert len(kept) == 1001
    assert kept.take("large") is None


def test_a_value_that_grows_is_measured_again_when_it_is_used():
    kept = Kept(max_bytes=10 * MB, measure_again_s=0)
    grows = kept.get("grows", list)
    kept.get("other", lambda: block(3))
    grows.append(block(9))
    kept.get("grows", list)
    assert len(kept) == 1


def test_a_value_that_was_measured_a_moment_ago_is_not_measured_again():
    kept = Kept(max_bytes=10 * MB, measure_again_s=3600)
    grows = kept.get("grows", list)
    grows.append(block(9))
    assert kept.get("grows", list) is grows
    assert kept.bytes < MB
    kept.put("grows", kept.take("grows"))
    assert kept.bytes > 9 * MB, "what is put back was changed"
    grows.append(block(9))
    kept.put("grows", kept.take("grows"), same=True)
    assert kept.bytes < 10 * MB, "it is said to be the same"


def test_threads_that_ask_at_once_share_what_one_of_them_makes():
    kept, began, goes_on, made = Kept(), threading.Event(), threading.Event(), []

    def make() -> object:
        began.set()
        goes_on.wait(10)
        made.append(object())
        return made[-1]

    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("key", make))) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert began.wait(10)
    assert kept.get("another", lambda: 7) == 7, "another value is not waited for"
    goes_on.set()
    for thread in threads:
        thread.join(10)
    assert len(made) == 1
    assert found == made * 5


def test_a_failure_leaves_nothing_behind():
    kept = Kept()
    for _ in range(2):
        try:
            kept.get("key", lambda: 1 / 0)
        except ZeroDivisionError:
            continue
        raise AssertionError("the error was swallowed")
    gc.collect()
    assert len(kept) == len(kept._locks) == 0


def test_locks_are_gone_with_their_last_user():
    kept = Kept(max_bytes=MB)
    for key in range(100):
        kept.get(key, lambda: block(1))
    gc.collect()
    assert (len(kept), len(kept._locks)) == (1, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="maps are read from /proc, which only Linux has")
def test_the_database_is_not_mapped_into_memory(tmp_path):
    """A map of the file in each connection would count into the memory of the web server, beside what it keeps."""
    path = tmp_path / "twin.sqlite3"
    connection = sqlite3.connect(path)
    connection.executescript(settings.DATABASES["default"]["OPTIONS"]["init_command"])
    connection.execute("create table logs (payload)")
    connection.execute("insert into logs values (zeroblob(4000000))")
    connection.commit()
    connection.execute("pragma wal_checkpoint(truncate)")
    assert len(connection.execute("select payload from logs").fetchone()[0]) == 4 * MB
    maps = [line for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(str(path))]
    connection.close()
    assert maps == []


def test_sizes_count_what_is_held_once():
    array = np.zeros(1000)
    assert array.nbytes <= measured([array, array]) < 1.2 * array.nbytes
    assert measured({"a": "x" * 5000}) > 5000


def test_long_containers_are_measured_by_a_sample():
    rows = [[float(i), str(i) * 20] for i in range(20_000)]
    exact = sys.getsizeof(rows) + sum(sys.getsizeof(row) + sum(map(sys.getsizeof, row)) for row in rows)
    assert abs(measured(rows) - exact) < 0.1 * exact


def test_jobs_weigh_more_once_they_are_objects():
    _, rows = generate("oasis", num_jobs=300, num_servers=4, seed=1)
    jobs = StoredJobs(JobTable.of(rows))
    columns = measured(jobs)
    assert list(jobs) == list(rows)
    assert measured(jobs) > columns + 300 * sys.getsizeof(rows[0])
