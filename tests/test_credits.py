"""Citations of the four papers: what they name exists in the paper, and credits name the right authors."""

import re
from pathlib import Path

import pytest

from scheduling.kernel.registry import schedulers

ROOT = Path(__file__).parents[1]
NUMBERED = {  # paper: greatest number of each kind in its text
    "OASiS": {
        "Algorithm": 2, "Theorem": 4, "Lemma": 0, "Fig": 8, "Table": 1, "Eq": 31, "Problem": 31, "constraint": 31,
    },
    "PD-ORS": {
        "Algorithm": 4, "Theorem": 7, "Lemma": 10, "Fig": 17, "Table": 1, "Eq": 39, "Problem": 39, "constraint": 39,
    },
    "A_online": {"Algorithm": 5, "Theorem": 4, "Lemma": 5, "Fig": 13, "Table": 2, "Eq": 11, "Problem": 11,
                 "constraint": 11},
    "Harmony": {"Algorithm": 1, "Theorem": 0, "Lemma": 0, "Fig": 14, "Table": 1, "Eq": 4, "Problem": 0,
                "constraint": 0},
}  # fmt: skip
SECTIONS = {  # those with subsections: the last letter
    "OASiS": {"I": "", "II": "B", "III": "C", "IV": "D", "V": "B", "VI": ""},
    "PD-ORS": {"I": "", "II": "", "III": "", "IV": "D", "V": "", "VI": ""},
    "A_online": {"I": "", "II": "", "III": "B", "IV": "E", "V": "C", "VI": "", "VII": ""},
    "Harmony": {"I": "", "II": "B", "III": "", "IV": "C", "V": "G", "VI": "", "VII": "", "VIII": ""},
}
PLACES = {  # of which paper a file speaks where the citation does not name it
    "PD-ORS": ("pd_ors", "pd-ors", "multi_machine", "single_machine", "lp_rounding", "rounding", "knapsack"),
    "A_online": ("a_online", "a-online", "typed_workers", "haprf", "srtf", "tiresias", "batch_sche", "dispatch",
                 "workers_a_online", "_lanes", "suspension"),
    "Harmony": ("harmony", "colocation", "isolated", "oracle", "group-use", "oracle-gap", "naive"),
    "OASiS": ("oasis", "slotted", "lateness", "training_models"),
}  # fmt: skip
KINDS = {"Alg": "Algorithm", "Figure": "Fig", "Equation": "Eq"}
CITATION = re.compile(
    r"\b(Algorithm|Alg|Theorem|Lemma|Figure|Fig|Equation|Eq|Table|Problem|constraint)s?\.? "
    r"\(?(\d+|[IVX]+)[a-z]?\)?(?:(?: to | and |-)\(?(\d+)[a-z]?\)?)?"
)
SECTION = re.compile(r"\bSection ([IVX]+)(?:-([A-H]))?\b")
NAMES = re.compile(r"OASiS|PD-ORS|A_online|Harmony|Ghodsi")
ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5}
FILES = [
    path
    for folder in ("scheduling", "experiments", "docs", "static/js", "templates", "dashboard", "twin", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".md", ".js", ".html") and path.name != "changelog.md"
]


def paper_of(path, text, at):
    """The paper that the line names before the citation, or after it, else that of the file."""
    begin = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    before, after = NAMES.findall(text[begin:at]), NAMES.findall(text[at : end if end >= 0 else len(text)])
    if before or after:
        return before[-1] if before else after[0]
    name = path.relative_to(ROOT).as_posix()
    return next((paper for paper, words in PLACES.items() if any(word in name for word in words)), None)


def wrong(path, text):
    """Citations of what the paper does not have."""
    found = []
    for match in CITATION.finditer(text):
        paper = paper_of(path, text, match.start())
        kind = KINDS.get(match[1], match[1])
        numbers = [int(n) if n.isdigit() else ROMAN.get(n, 99) for n in match.groups()[1:] if n]
        if paper in NUMBERED and max(numbers) > NUMBERED[paper][kind]:
            found.append(f"{path}: {paper} has no {match[0]}")
    for match in SECTION.finditer(text):
        paper = paper_of(path, text, match.start())
        known = SECTIONS.get(paper or "")
        if known is not None and (match[1] not in known or (match[2] or "") > known[match[1]]):
            found.append(f"{path}: {paper} has no {match[0]}")
    return found


def test_every_citation_is_of_something_that_the_paper_has():
    found = [line for path in FILES for line in wrong(path, path.read_text(encoding="utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("by Theorem 5 of OASiS", ["OASiS has no Theorem 5"]),
        ("PD-ORS, Theorems 3 and 8", ["PD-ORS has no Theorems 3 and 8"]),
        ("Harmony, Eq. (5) and Fig. 14", ["Harmony has no Eq. (5)"]),
        ("A_online, Section VIII", ["A_online has no Section VIII"]),
        ("Harmony, Section V-H and Section V-G", ["Harmony has no Section V-H"]),
        ("PD-ORS, Eq. 12-14; Harmony, Table I", []),
    ],
)
def test_a_citation_of_nothing_is_found(text, words):
    path = ROOT / "docs" / "some.md"
    assert [line.removeprefix(f"{path}: ") for line in wrong(path, text)] == words


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
