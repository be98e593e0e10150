// Sub-rows of a Gantt row, in which bars that overlap lie below each other. A bar keeps its sub-row.

/**
 * Gives each new bar the lowest sub-row without an overlap with bars that were valid when it was decided. Sub-rows
 * given earlier do not change, so nothing jumps when bars arrive, the playhead moves or the view is panned.
 *
 * bars   columns start_ms, end_ms, born_ms, died_ms
 * sorted rows of this Gantt row by start; longest: ms of its longest bar
 * fresh  rows without a sub-row, in the order in which they were decided
 * subRows  sub-row of each bar, written here; 255 = none yet, 254 = the last one, shared
 * Returns the number of sub-rows in use, at least `count`.
 */
export function giveSubRows(bars, sorted, length, longest, fresh, subRows, count = 0) {
  const { start_ms: start, end_ms: end, born_ms: born, died_ms: died } = bars;
  const taken = new Uint8Array(256);
  for (const row of fresh) {
    taken.fill(0);
    let low = 0;
    let high = length;
    const earliest = start[row] - longest;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (start[sorted[middle]] < earliest) low = middle + 1;
      else high = middle;
    }
    for (let i = low; i < length && start[sorted[i]] < end[row]; i++) {
      const other = sorted[i];
      if (other === row || end[other] <= start[row] || subRows[other] === 255) continue;
      if (died[other] === -1 || died[other] > born[row]) taken[subRows[other]] = 1;
    }
    let subRow = 0;
    while (subRow < 254 && taken[subRow]) subRow++;
    subRows[row] = subRow;
    if (subRow + 1 > count) count = subRow + 1;
  }
  return count;
}
