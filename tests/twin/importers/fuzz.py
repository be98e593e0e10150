"""Fuzzer of the importers: damaged variants of good files, each imported in full. It keeps what fails.

    python -m tests.twin.importers.fuzz COUNT SEED [FOLDER] [CORPUS]

A variant fails if it raises anything but one refusal in one line, if Python warns, or if lines or rows are not
accounted for. The operating system limits the address space of the process. A failed variant is written to the folder,
`tests/fixtures/fuzz` by default. The fuzzer also damages the files of this folder, and the variants of the corpus: the
smallest variant of each outcome. If CORPUS is given, the corpus and the new outcomes are written to that file.
"""

from __future__ import annotations

import random
import re
import resource
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

from tests.twin.importers.corpus import Corpus, Variant
from tests.twin.importers.samples import MAPPING, SAMPLES
from twin.traces.importers import ImportRefused, Reading, Upload, read

CORPUS = Path(__file__).resolve().parents[2] / "fixtures" / "fuzz"
OUTCOMES = CORPUS / "outcomes.json.gz"
ADDRESS_SPACE = 3 * 2**30  # bytes; libraries map 1.5 GB before a file is read
LOST = "error of the importer"  # what a reader says that has lost a line
MARK = "@@ "  # begins the line above each file of a kept variant
CELLS = [
    b"", b"nan", b"inf", b"-inf", b"-1", b"0", b"1e400", b"-0.5", b"9" * 30, b"1e308", b"2017-10-01 00:00:45", b"1",
    b"66.0", b'"', b"None", b"null", b"\xc3\xa9", b"a b", b"x" * 300, b"%s", b"=1+1", b"\x1b[31m", b"1,5", b"16Gi",
    b"03/04/2026", b"1-02:03:04", b"0001-01-01 00:00:00", b"9999-12-31 23:59:59", b"\xe2\x80\xa8", b"1_000", b"0x10",
    b"9223372036854775808", b"true", b"[]", b"{}", b"\\u0000", b"\\ud800",
]  # fmt: skip
JOINTS = [
    b",",
    b"\t",
    b"|",
    b" ",
    b"\n",
    b";",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\r\n",
    b"\r",
    b"\\",
    b"\xff",
    b"\0",
]
OPTIONS = [{}, {}, {}, {"time_unit": "d"}, {"time_unit": "us"}, {"time_zone": "Europe/Berlin"}, {"cpu_jobs": "keep"}]
READINGS = [Reading.of(options) for options in OPTIONS]
QUOTED, NUMBER = re.compile(r"'[^']*'|\"[^\"]*\""), re.compile(r"[\d.,:+-]*\d[\d.,:+-]*")
SHORT = 90  # characters of a refusal that tell one rule from another


class Outcome(NamedTuple):
    """What came of an import: imported, refused or fault, and why."""

    kind: str
    why: str

    @property
    def signature(self) -> str:
        """The same without what differs between two files that break the same rule."""
        return f"{self.kind} {NUMBER.sub('0', QUOTED.sub('', self.why))[:SHORT]}"


def variant(rng: random.Random, kept: list[tuple[str, list[bytes]]]) -> tuple[str, list[bytes]]:
    """(format, files): good files, or kept ones, with pieces cut, doubled, swapped or replaced."""
    name, parts = rng.choice(kept) if kept and rng.random() < 0.2 else rng.choice(list(SAMPLES.items()))
    return name, [damaged(rng, data) for data in rng.sample(parts, rng.randint(1, len(parts)))]


def damaged(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.randint(0, 4)):
        kind = rng.random()
        if kind < 0.45:  # a cell
            marks = [at for at, byte in enumerate(data) if byte in b',\t|;: \n"']
            begin = rng.choice(marks) + 1 if marks else 0
            end = next((at for at in marks if at >= begin), len(data))
            data = data[:begin] + rng.choice(CELLS) + data[end:]
        elif kind < 0.6:
            at = rng.randint(0, len(data))
            data = data[:at] + rng.choice(JOINTS) + data[at:]
        elif kind < 0.8:  # lines doubled, moved or lost
            lines = data.split(b"\n")
            at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[at:at] = [lines[other]] * rng.randint(0, 3)
            if rng.random() < 0.5:
                lines.pop(rng.randrange(len(lines)))
            data = b"\n".join(lines)
        else:
            begin = rng.randint(0, len(data))
            end = min(len(data), begin + rng.randint(0, 40))
            data = data[:begin] + rng.choice([b"", data[begin:end] * 2, rng.randbytes(rng.randint(0, 6))]) + data[end:]
    return data


def fault(folder: Path, name: str, parts: list[bytes], format: str, reading: Reading) -> str:
    """Why the import of a variant is wrong; "" for one that is imported or refused as it should be."""
    found = outcome(folder, name, parts, format, reading)
    return found.why if found.kind == "fault" else ""


def outcome(folder: Path, name: str, parts: list[bytes], format: str, reading: Reading) -> Outcome:
    """The import of a variant; of one that is imported, the reasons why rows were skipped."""
    uploads = []
    for number, data in enumerate(parts):
        path = folder / f"part{number}"
        path.write_bytes(data)
        uploads.append(Upload(path, f"part{number}.csv"))
    mapping = MAPPING if name == "mapped_csv" else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            report = read(uploads, format=format, mapping=mapping, seed=3, reading=reading).report
    except ImportRefused as refusal:
        sentence = str(refusal)
        if LOST in sentence or "\n" in sentence or not sentence.isprintable():
            return Outcome("fault", f"refusal: {sentence}")
        return Outcome("refused", sentence)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome("fault", f"{type(error).__name__}: {traceback.format_exc()}")
    known = report["imported"] + report["merged"] + report["not_selected"] + sum(report["skipped_counts"].values())
    if report["rows"] > known:
        return Outcome("fault", f"{report['rows']} rows, but {known} are accounted for")
    return Outcome("imported", "; ".join(sorted(report["skipped_counts"])))


def packed(name: str, parts: list[bytes]) -> bytes:
    return f"{MARK}{name}\n".encode() + f"\n{MARK}\n".encode().join(parts)


def kept(folder: Path = CORPUS) -> list[tuple[str, list[bytes]]]:
    """(format, files) of each variant in the folder."""
    found = []
    for path in sorted(folder.glob("*.bin")):
        first, _, rest = path.read_bytes().partition(b"\n")
        found.append((first.decode().removeprefix(MARK), rest.split(f"\n{MARK}\n".encode())))
    return found


def fuzz(count: int, seed: int, folder: Path = CORPUS, corpus: Corpus | None = None) -> list[str]:
    """Faults of so many variants; what fails is written to the folder, what is new is added to the corpus."""
    corpus = Corpus.read(OUTCOMES) if corpus is None else corpus
    begun = kept() + [(one.format, one.files) for one in corpus.variants()]
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="twin-fuzz-") as place:
        for number in range(count):
            rng = random.Random(seed * 10_000_000 + number)
            name, parts = variant(rng, begun)
            format = "auto" if name == "mapped_csv" or rng.random() < 0.5 else name
            reading = rng.choice(READINGS)
            found = outcome(Path(place), name, parts, format, reading)
            if found.kind == "fault":
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name}-{seed}-{number}.bin").write_bytes(packed(name, parts))
                faults.append(f"{name}, variant {number} of seed {seed}, {format}, {reading.plain()}: {found.why}")
            else:
                options = OPTIONS[READINGS.index(reading)]
                corpus.add(Variant(name, format, options, parts, found.kind), found.signature)
    return faults


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    count, seed, *places = sys.argv[1:]
    corpus = Corpus.read(OUTCOMES)
    faults = fuzz(int(count), int(seed), *map(Path, places[:1]), corpus=corpus)
    if len(places) > 1:
        corpus.write(Path(places[1]))
    print(f"{int(count):,} variants, {len(faults):,} faults")
    for line in faults[:20]:
        print(line)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
