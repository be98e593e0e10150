// Sub-lanes of a Gantt row, in which bars that overlap lie below each other. A bar keeps its sub-lane.

/**
 * Gives each new bar the lowest lane without an overlap with bars that were valid when it was decided. Lanes given
 * earlier do not change, so nothing jumps when bars arrive, the playhead moves or the view is panned.
 *
 * bars   columns start_ms, end_ms, born_ms, died_ms
 * sorted rows of this Gantt row by start; longest: ms of its longest bar
 * fresh  rows without a lane, in the order in which they were decided
 * lanes  lane of each bar, written here; 255 = none yet, 254 = the last one, shared
 * Returns the number of lanes in use, at least `count`.
 */
export function giveLanes(bars, sorted, length, longest, fresh, lanes, count = 0) {
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
      if (other === row || end[other] <= start[row] || lanes[other] === 255) continue;
      if (died[other] === -1 || died[other] > born[row]) taken[lanes[other]] = 1;
    }
    let lane = 0;
    while (lane < 254 && taken[lane]) lane++;
    lanes[row] = lane;
    if (lane + 1 > count) count = lane + 1;
  }
  return count;
}
