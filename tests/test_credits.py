"""Citations of the four papers: each names an item of the paper, beside words of what that item states."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from scheduling.kernel.registry import schedulers

ROOT = Path(__file__).parents[1]
CONTENTS = ROOT / "docs" / "papers" / "contents.md"
PLACES = {  # of which paper a file speaks where the citation does not name it
    "PD-ORS": ("pd_ors", "pd-ors", "multi_machine", "single_machine", "lp_rounding", "rounding", "knapsack",
               "slotted/certificate", "slotted/reallocation", "solvers/optimum", "_replay", "_unrepaired"),
    "A_online": ("a_online", "a-online", "typed_workers", "haprf", "srtf", "tiresias", "batch_sche", "dispatch"),
    "Harmony": ("harmony", "colocation", "isolated", "oracle", "group-use", "naive", "_single", "model/speed"),
    "OASiS": ("oasis", "slotted", "_lateness", "training_models"),
}  # fmt: skip
OTHERS = {"Gavel": ("gavel", "colocation/rounds", "rivals"), "Ghodsi": (), "Themis": (), "Theorem A": ()}  # not listed
NAMES = re.compile("|".join((*PLACES, *OTHERS)))
NUMBER = r"\(?(?:\d+|[IVX]+(?:-[A-H])?\d?)[a-k]?\b\)?(?! %)"
KINDS = r"Algorithm|Alg|Theorem|Lemma|Figure|Fig|Equation|Eq|Table|Problem|problem|[Cc]onstraint|ILP|Fact|Section"
CITATION = re.compile(rf"\b({KINDS})s?\.? ({NUMBER}(?:(?:, | and | to | or |[-–]){NUMBER})*)")
SAME = {
    "Alg": "Algorithm", "Figure": "Fig", "Equation": "Eq", "Problem": "Eq", "problem": "Eq", "constraint": "Eq",
    "Constraint": "Eq", "ILP": "Eq",
}  # fmt: skip
NEAR = 6  # lines before and after a citation in which one of its words stands
FOLDERS = (
    "scheduling", "experiments", "docs", "static/js", "templates", "dashboard", "twin", "benchmarks", "tests/scheduling"
)  # fmt: skip
FILES = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".md", ".js", ".html") and path.name not in ("changelog.md", CONTENTS.name)
]


class Item(NamedTuple):
    """What a paper numbers, with the words of which one stands near a citation."""

    title: str
    words: tuple[str, ...]

    def named_in(self, text):
        """True if one of the words is in the text."""
        return any(
            re.search(rf"\b{word}\b", text) if len(word) < 3 else word.lower() in text.lower() for word in self.words
        )


@cache
def contents():
    """{(paper, kind, number): item} of docs/papers/contents.md."""
    found, paper = {}, ""
    for line in CONTENTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = line[3:]
        elif row := re.match(r"\| (Section|Algorithm|Theorem|Lemma|Fact|Definition|Fig|Table|Eq)\.? (\S+) \| ", line):
            title, words = (cell.strip() for cell in line.split("|")[2:4])
            for number in numbers(row[2]):
                assert (paper, row[1], number) not in found, line
                found[paper, row[1], number] = Item(title, tuple(word.strip() for word in words.split(",")))
    return found


def numbers(text):
    """Numbers of a citation such as "12–14", "(1) to (3)", "5b and 7" or "IV-B3"."""
    parts = re.split(r"(, | and | to | or |(?<=[\d)])[-–])", re.sub(r"[()]", "", text))
    found = [_plain(parts[0])]
    for joint, part in zip(parts[1::2], parts[2::2], strict=True):
        if joint in (" to ", "-", "–"):
            found += [str(n) for n in range(int(found[-1]) + 1, int(_plain(part)))]
        found.append(_plain(part))
    return found


def _plain(number):
    """The number without the letter of its part: 6a is of 6."""
    return re.sub(r"(?<=\d)[a-k]$", "", number)


def paper_of(path, lines, at, begin, end):
    """The paper that the line names before the citation, or after it, or a line before, else that of the file."""
    before, after = NAMES.findall(lines[at][:begin]), NAMES.findall(lines[at][end:])
    earlier = NAMES.findall("\n".join(lines[max(0, at - 3) : at])) if path.suffix == ".md" else []
    name = path.relative_to(ROOT).as_posix()
    of_file = [paper for paper, words in (OTHERS | PLACES).items() if any(word in name for word in words)]
    return next(iter([*before[-1:], *after[:1], *earlier[-1:], *of_file]), None)


def wrong(path, text):
    """Citations of no paper, of what the paper does not have, or without any word of what it has."""
    found, lines = [], text.splitlines()
    where = path.relative_to(ROOT).as_posix()
    for at, line in enumerate(lines):
        near = "\n".join([where, *lines[max(0, at - NEAR) : at + NEAR + 1]])
        for match in CITATION.finditer(line):
            paper = paper_of(path, lines, at, match.start(), match.end())
            if paper is None:
                found.append(f"{where}:{at + 1}: {match[0]} is of no named paper")
            if paper not in PLACES:
                continue
            kind = SAME.get(match[1], match[1])
            items = {number: contents().get((paper, kind, number)) for number in numbers(match[2])}
            found += [f"{where}:{at + 1}: {paper} has no {kind} {number}" for number, item in items.items() if not item]
            known = [item for item in items.values() if item]
            if known and not any(item.named_in(near.replace(match[0], "")) for item in known):
                found.append(f"{where}:{at + 1}: {paper}, {match[0]}: {'; '.join(item.title for item in known)}")
    return found


def test_every_citation_is_of_what_the_paper_states_there():
    found = [line for path in FILES for line in wrong(path, path.read_text(encoding="utf-8"))]
    assert found == []


def test_experiments_are_of_figures_and_sections_that_the_papers_have():
    """By their file names: pd_ors_fig11_rounding_gain, harmony_sec5c_parts."""
    named = [
        (match, path.stem)
        for path in sorted((ROOT / "experiments").glob("*.py"))
        if (match := re.match(r"(oasis|pd_ors|a_online|harmony)_(fig|sec)(\d+)([a-h]?)_", path.stem))
    ]
    assert len(named) > 30
    papers = {re.sub(r"\W", "_", paper.lower()): paper for paper in PLACES}
    for match, name in named:
        number = f"V-{match[4].upper()}" if match[2] == "sec" else str(int(match[3]))
        assert (papers[match[1]], match[2].capitalize().replace("Sec", "Section"), number) in contents(), name


def test_the_contents_are_complete():
    """Numbers of each kind in the texts of the papers, without gaps."""
    counted = {}
    for paper, kind, _ in contents():
        counted[paper, kind] = counted.get((paper, kind), 0) + 1
    assert {key: number for key, number in counted.items() if key[1] != "Section"} == {
        ("OASiS", "Algorithm"): 2, ("OASiS", "Theorem"): 4, ("OASiS", "Fig"): 8, ("OASiS", "Table"): 1,
        ("OASiS", "Eq"): 32, ("PD-ORS", "Algorithm"): 4, ("PD-ORS", "Fact"): 1, ("PD-ORS", "Lemma"): 5,
        ("PD-ORS", "Theorem"): 5, ("PD-ORS", "Fig"): 17, ("PD-ORS", "Table"): 1, ("PD-ORS", "Eq"): 39,
        ("A_online", "Algorithm"): 5, ("A_online", "Definition"): 2, ("A_online", "Lemma"): 5,
        ("A_online", "Theorem"): 4, ("A_online", "Fig"): 13, ("A_online", "Table"): 2, ("A_online", "Eq"): 11,
        ("Harmony", "Algorithm"): 1, ("Harmony", "Fig"): 14, ("Harmony", "Table"): 1, ("Harmony", "Eq"): 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("competitive by Theorem 5 of OASiS", ["OASiS has no Theorem 5"]),
        ("the rounding of PD-ORS, Theorems 2 and 3", ["PD-ORS has no Theorem 2"]),
        ("the rounding of PD-ORS, Theorems 3 and 4", []),
        ("the competitive ratio of PD-ORS, Theorem 3", ["PD-ORS, Theorem 3: rounding that favours resources"]),
        ("Harmony, Eq. (5) and Fig. 14 (Oracle)", ["Harmony has no Eq 5"]),
        ("storage of A_online, Section VIII", ["A_online has no Section VIII"]),
        ("Harmony, Section V-H, spilling by Section V-G", ["Harmony has no Section V-H"]),
        ("prices of PD-ORS, Eq. 12-14; workload of Harmony, Table I", []),
        ("the price of OASiS, Eq. 31 to 33", [
            "OASiS has no Eq 33", "OASiS, Eq. 31 to 33: best schedule of one job; cheapest deployment in one slot"
        ]),
        ("by Eq. (1)", ["Eq. (1) is of no named paper"]),
        ("[Gavel, Section 5, Algorithm 1]", []),
    ],
)  # fmt: skip
def test_a_wrong_citation_is_found(text, words):
    path = ROOT / "docs" / "some.md"
    assert [line.removeprefix("docs/some.md:1: ") for line in wrong(path, text)] == words


def test_algorithms_are_credited_to_their_authors():
    """Surnames, title and place of the papers that were confused, in the program and in the references."""
    credits = {
        "pd_ors": ("Yu, Liu, Wu, Ji, Bentley", "Toward Efficient Online Scheduling for Distributed Machine Learning "
                   "Systems", "2022"),
        "oasis": ("Bao, Peng, Wu, Li", "Online Job Scheduling in Distributed Machine Learning Clusters", "2018"),
    }  # fmt: skip
    references = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    for name, (authors, title, year) in credits.items():
        stated = schedulers()[name].paper
        assert authors in stated
        assert title in stated
        assert year in stated
        (row,) = [line for line in references.splitlines() if f'"{title}"' in line]
        assert year in row
        assert all(author in row for author in authors.split(", "))
    (row,) = [line for line in references.splitlines() if "MobiHoc 2020" in line]
    assert row.startswith("| BatchSche |")
