"""BulkTable gives what Table gives."""

import io

import pytest

from twin.traces.importing.drafts import ImportRefused, ReadOptions, Skipped, Source
from twin.traces.uploads.bulk import BulkTable
from twin.traces.uploads.tables import Table

MESSY = """a,b,c
1,"two, quoted",3
4 , five,6

7,8
9
10,11,12,,
13,14,15,16
"17" x,18,19
20,"2""1",22
é, 23 ,24"""


def rows(table):
    portions = list(table.portions())
    return [
        (line, *cells)
        for portion in portions
        for line, *cells in zip(portion.lines.tolist(), *(portion.columns[name] for name in table.wanted), strict=True)
    ]


def read(kind, text, wanted, **options):
    data = text.encode()
    skipped = Skipped()
    table = kind(Source("f.csv", io.BytesIO(data), len(data)), wanted, skipped, ReadOptions(), **options)
    return rows(table), table.rows, [(skip["line"], skip["reason"]) for skip in skipped.listed]


@pytest.mark.parametrize("text", [MESSY, MESSY + "\n", "a,b\n", "b,x,a\n1,2,3\n4,5,6", "a,b\n" * 25_001])
def test_it_reads_what_table_reads(text):
    assert read(BulkTable, text, ("a", "b")) == read(Table, text, ("a", "b"))


def test_a_file_without_a_header_begins_with_its_first_line():
    assert read(BulkTable, "1,2\n3,4\n", ("b",), names=("a", "b")) == ([(1, "2"), (2, "4")], 2, [])


def test_an_open_quote_costs_its_own_row_only():
    """Table refuses the file, as it cannot know what the quote swallowed; here a cell never holds a line end."""
    found, count, skipped = read(BulkTable, 'a,b\n1,"2\n3,4\n', ("a", "b"))
    assert (found, count, skipped) == ([(3, "3", "4")], 2, [(2, "unreadable_quotes")])


@pytest.mark.parametrize(
    ("header", "sentence"), [("a,c", "the column 'b' is missing"), ("a,b,b", "the column 'b' occurs 2 times")]
)
def test_a_header_that_does_not_do_is_refused(header, sentence):
    with pytest.raises(ImportRefused, match=sentence):
        read(BulkTable, header + "\n1,2,3\n", ("a", "b"))
