// Rows of a schedule on paper, which does not scroll.

/** 'rows 1 to 34 of 100' of the rows that are shown; '' if all are. @param {any} gantt */
export function printedRows({ frame, rows: { list } }) {
  const first = list.indexOf(frame.views[0]?.row);
  if (first < 0 || frame.views.length === list.length) return '';
  return `rows ${first + 1} to ${first + frame.views.length} of ${list.length}`;
}
