"""First words of docstrings, and of the comment at the top of each script: nouns of the field, no verbs or questions.

Descriptions of requests in OpenAPI are exempt: the docstrings of methods of API views begin with a verb ("Starts ...").
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("benchmarks", "dashboard", "experiments", "scheduling", "twin")
QUESTIONS = ["What", "Which", "Why", "How", "Where", "Whether", "When", "Who", "Whose"]  # "True if" for booleans
OTHERS = [
    "Also", "By", "From", "Immutable", "In", "No", "Nobody", "None", "Nothing", "Of", "On", "Only", "So", "Those",
    "With", "Without",
]  # fmt: skip
VERBS = [
    "accept", "acknowledge", "add", "advance", "allocate", "announce", "append", "apply", "approve", "assign", "bring",
    "build", "cancel", "carry", "choose", "clear", "collect", "compare", "complete", "compute", "continue", "convert",
    "create", "declare", "delete", "discard", "dispatch", "dissolve", "emit", "enable", "encode", "enqueue", "ensure",
    "evaluate", "execute", "expect", "fetch", "fill", "finish", "follow", "forget", "free", "generate", "get", "give",
    "go", "hand", "handle", "invalidate", "keep", "kill", "lay", "learn", "let", "make", "merge", "notify", "observe",
    "open", "pack", "paint", "parse", "pause", "prepare", "produce", "publish", "put", "raise", "receive", "refuse",
    "regroup", "reject", "remember", "remove", "renew", "reorder", "repeat", "replace", "represent", "restore",
    "restrict", "resume", "retrieve", "reverse", "revoke", "say", "scan", "send", "serve", "settle", "sort", "split",
    "store", "tell", "translate", "try", "undo", "update", "validate", "verify", "wake", "write", "yield",
]  # fmt: skip
HOMONYMS = [  # nouns, but verbs before one of OBJECTS
    "Answers", "Asks", "Audits", "Calls", "Checks", "Claims", "Closes", "Cuts", "Downloads", "Draws", "Drops",
    "Estimates", "Finds", "Forecasts", "Holds", "Imports", "Lists", "Loads", "Logs", "Looks", "Marks", "Matches",
    "Moves", "Notes", "Places", "Plays", "Prints", "Queues", "Reads", "Records", "Registers", "Reports", "Requests",
    "Returns", "Runs", "Sets", "Shows", "Stands", "Starts", "Stops", "Takes", "Turns", "Uploads", "Uses", "Waits",
    "Watches",
]  # fmt: skip
OBJECTS = [
    "a", "an", "the", "all", "each", "every", "its", "it", "one", "so", "this", "these", "what", "which", "whether",
]  # fmt: skip


def third_person(verb: str) -> str:
    if re.search(r"(s|sh|ch|x|z|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


FORBIDDEN = {*QUESTIONS, *OTHERS, *(third_person(verb).capitalize() for verb in VERBS)}
BEFORE_OBJECTS = {*HOMONYMS, *(verb.capitalize() for verb in VERBS)}


def is_wrong(text: str) -> bool:
    """True for a text that begins with a verb, a question word or a preposition."""
    first, second = [*text.removeprefix("// ").split(), ""][:2]
    return first.rstrip(",.:") in FORBIDDEN or (first in BEFORE_OBJECTS and second in OBJECTS)


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(name, docstring) of a module and all that it defines, but for methods of API views."""
    nodes: list[tuple[str, ast.AST]] = [("module", tree)]
    while nodes:
        name, node = nodes.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield name, text
        is_view = isinstance(node, ast.ClassDef) and node.name.endswith(("View", "ViewSet"))
        for child in ast.iter_child_nodes(node):
            if not (is_view and isinstance(child, ast.FunctionDef)):
                nodes.append((getattr(child, "name", name), child))


def test_docstrings_begin_with_a_noun():
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    assert len(files) > 500
    found = [
        f"{file.relative_to(ROOT)}, {name}: {text.splitlines()[0]}"
        for file in files
        for name, text in docstrings(ast.parse(file.read_text()))
        if is_wrong(text)
    ]
    assert found == []


def test_scripts_begin_with_a_comment_that_begins_with_a_noun():
    files = sorted((ROOT / "static" / "js").rglob("*.js"))
    assert len(files) > 150
    heads = {file.relative_to(ROOT): file.read_text().split("\n", 1)[0] for file in files}
    assert [name for name, head in heads.items() if not head.startswith("// ")] == []
    assert [f"{name}: {head}" for name, head in heads.items() if is_wrong(head)] == []


def test_verbs_are_told_from_nouns():
    for text in (
        "Returns the jobs.",
        "Computes U.",
        "What a job waits for.",
        "How often.",
        "Puts a step on the agenda.",
    ):
        assert is_wrong(text), text
    for text in (
        "Runs of a scenario.",
        "Number of jobs.",
        "True if it is empty.",
        "Claims of a token.",
        "`count` jobs.",
    ):
        assert not is_wrong(text), text
    source = 'class RunView:\n    "A run."\n    def get(self):\n        "Returns it."\ndef put():\n    "Puts it."\n'
    assert sorted(name for name, _ in docstrings(ast.parse(source))) == ["RunView", "put"]


def test_comments_of_functions_in_scripts_begin_with_no_question():
    """A function that acts on the page may begin with its verb ("Shows ..."), as a method of an API view."""
    texts = {
        (path.relative_to(ROOT).as_posix(), text)
        for path in (ROOT / "static" / "js").rglob("*.js")
        for text in re.findall(r"/\*\*\s*\n?\s*\*?\s*([^@\s][^\n]*)", path.read_text())
    }
    assert len(texts) > 900
    assert [found for found in sorted(texts) if found[1].split()[0].rstrip(",.:") in {*QUESTIONS, *OTHERS}] == []
