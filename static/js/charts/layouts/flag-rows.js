// Rows of flags on a strip of time, so that no flag covers another.

const [CHARACTER, PADDING, GAP] = [7, 12, 2]; // px
const [MIN_PX, MAX_PX] = [20, 122]; // px: limits of the estimated width of a flag, 2 px above those in whatif.css
const MAX_ROWS = 4; // beyond, a flag stands to the right of its time

/**
 * {row, shift} of each flag, in the order given: row from the bottom, and px to the right of its time.
 *
 * @param {{x: number, text: string}[]} flags x: px of its time
 * @returns {{row: number, shift: number}[]}
 */
export function flagRows(flags) {
  /** @type {number[]} */
  const ends = []; // px, of the last flag of each row
  /** @type {{row: number, shift: number}[]} */
  const found = Array(flags.length);
  const order = flags.map((_, i) => i).sort((a, b) => flags[a].x - flags[b].x || a - b);
  for (const i of order) {
    const { x, text } = flags[i];
    let row = ends.findIndex((end) => end <= x);
    if (row < 0) row = ends.length < MAX_ROWS ? ends.length : ends.indexOf(Math.min(...ends));
    const left = Math.max(x, ends[row] ?? x);
    found[i] = { row, shift: left - x };
    ends[row] = left + Math.min(MAX_PX, Math.max(MIN_PX, text.length * CHARACTER + PADDING)) + GAP;
  }
  return found;
}
