"""Damaged variants of good files: imported in full or refused in one line, without a warning or a lost line."""

import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tests.twin.importers import fuzz
from tests.twin.importers.corpus import MAX_BYTES, MAX_FILE, Corpus, Variant
from tests.twin.importers.samples import SAMPLES
from twin.traces.importers import Reading, formats

ROOT = Path(__file__).resolve().parents[3]
VARIANTS = 10_000
KEPT = {path.stem: variant for path, variant in zip(sorted(fuzz.CORPUS.glob("*.bin")), fuzz.kept(), strict=True)}


@pytest.mark.parametrize("name", sorted(KEPT))
@pytest.mark.parametrize("options", [{}, {"time_unit": "d"}, {"cpu_jobs": "skip"}], ids=["plain", "days", "skip"])
def test_what_once_failed_does_not_fail_again(tmp_path, name, options):
    format, parts = KEPT[name]
    assert fuzz.fault(tmp_path, format, parts, format if format != "mapped_csv" else "auto", Reading.of(options)) == ""


def test_every_format_is_damaged():
    rng = random.Random(1)
    seen = {fuzz.variant(rng, [])[0] for _ in range(2_000)}
    assert seen == set(formats()) == set(SAMPLES)


@pytest.mark.parametrize(
    ("reader", "fault"),
    [
        (lambda sources, options: 1 / 0, "ZeroDivisionError"),
        (lambda sources, options: warnings.warn("odd", RuntimeWarning, stacklevel=1), "RuntimeWarning: odd"),
        (lambda sources, options: options.others, "AttributeError"),
    ],
)
def test_a_fault_is_found_and_the_variant_is_kept(tmp_path, monkeypatch, reader, fault):
    monkeypatch.setattr(formats()["tiresias"], "read", reader)
    monkeypatch.setattr(fuzz, "SAMPLES", {"tiresias": SAMPLES["tiresias"]})
    monkeypatch.setattr(fuzz, "CORPUS", tmp_path / "none")
    monkeypatch.setattr(fuzz, "OUTCOMES", tmp_path / "none.json.gz")
    faults = fuzz.fuzz(20, 1, tmp_path / "kept")
    assert faults
    assert fault in faults[0]
    assert [name for name, _ in fuzz.kept(tmp_path / "kept")] == ["tiresias"] * len(faults)


def test_a_lost_line_is_a_fault(tmp_path, monkeypatch):
    module = formats()["tiresias"]
    whole = module.read

    def losing(sources, options):
        options.others.count -= 1
        return whole(sources, options)

    monkeypatch.setattr(module, "read", losing)
    found = fuzz.fault(tmp_path, "tiresias", SAMPLES["tiresias"], "auto", Reading())
    assert found.startswith("refusal: part0.csv: 3 lines, but 2 rows and 0 other lines were read")


@pytest.mark.parametrize("every", [25, pytest.param(1, marks=pytest.mark.slow)])
def test_the_corpus_is_imported_and_refused_as_before(tmp_path, every):
    """Variants of the corpus, one of each outcome: those that were imported are still imported."""
    variants = list(Corpus.read(fuzz.OUTCOMES).variants())
    changed = []
    for one in variants[::every]:
        found = fuzz.outcome(tmp_path, one.format, one.files, one.asked, Reading.of(one.options))
        if found.kind != one.kind:
            changed.append((one, found))
    assert changed == []
    assert {one.format for one in variants} == set(formats())
    assert {one.kind for one in variants} == {"imported", "refused"}


def test_a_corpus_keeps_the_smallest_variant_of_each_outcome_and_is_written_alike(tmp_path):
    corpus, other = Corpus(), Corpus()
    rows = [
        (b"long one", "refused 0"),
        (b"short", "refused 0"),
        (b"other", "imported "),
        (b"x" * MAX_BYTES + b"x", "big"),
    ]
    for data, signature in rows:
        corpus.add(Variant("swf", "auto", {}, [data], "refused"), signature)
    for data, signature in reversed(rows):
        other.add(Variant("swf", "auto", {}, [data], "refused"), signature)
    corpus.write(tmp_path / "a.gz")
    other.write(tmp_path / "b.gz")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert [one.files for one in Corpus.read(tmp_path / "a.gz").variants()] == [[b"other"], [b"short"]]
    assert fuzz.OUTCOMES.stat().st_size < MAX_FILE


@pytest.mark.slow
def test_no_variant_fails(tmp_path):
    """In a process of its own, whose address space the operating system limits."""
    command = [sys.executable, "-m", "tests.twin.importers.fuzz", str(VARIANTS), "1", str(tmp_path / "kept")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("10,000 variants, 0 faults\n", "", 0)


@pytest.mark.thorough
def test_the_address_space_is_limited(tmp_path):
    """A reader that takes more memory than the limit gets a MemoryError, which is a fault."""
    code = (
        "import sys, resource; from tests.twin.importers import fuzz; from twin.traces.importers import formats; "
        "formats()['tiresias'].read = lambda sources, options: bytearray(fuzz.ADDRESS_SPACE); "
        f"sys.argv = ['fuzz', '400', '1', {str(tmp_path / 'kept')!r}]; fuzz.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "MemoryError" in done.stdout
