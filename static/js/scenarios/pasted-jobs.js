// Jobs pasted as lines of CSV: each line is an edit that adds copies of a job of the trace.

import { parseTime, timeProblem } from '../util/time-text.js';

export const MAX_LINES = 200; // edits of a scenario
const COLUMNS = ['job to copy', 'number of jobs', 'arrival', 'interval'];
export const PASTE_HELP =
  `One line for each edit: ${COLUMNS.join(', ')}; all but the first may be omitted. ` +
  'For example: j0005, 3, 2d 03:00, 10 min';

/** True if a text from the clipboard is meant as lines of jobs, and not as the id of one. */
export const isLines = (/** @type {string} */ text) => /[\n\t,;]/.test(text.trim());

/**
 * {edits} of the lines, or {error} about the first line that is wrong. Cells are separated by commas, semicolons or
 * tabs; a first line with the names of columns is skipped. atMs: when the edits take effect.
 *
 * @param {string} text
 * @param {number} atMs
 * @returns {{edits?: any[], error?: string}}
 */
export function pastedJobs(text, atMs) {
  const lines = text.split(/\r?\n/).map((line, place) => ({ line, number: place + 1 }));
  const given = lines.filter(({ line }) => line.trim());
  if (given.length && isHead(given[0].line)) given.shift();
  if (!given.length) return { error: 'Pasted jobs: there is no line with a job.' };
  if (given.length > MAX_LINES)
    return { error: `Pasted jobs: a scenario has at most ${MAX_LINES} edits, got ${given.length} lines; paste fewer.` };
  const edits = [];
  for (const { line, number } of given) {
    const found = lineOf(line, atMs);
    if (typeof found === 'string') return { error: `Pasted jobs, line ${number}: ${found}` };
    edits.push(found);
  }
  return { edits };
}

const cellsOf = (/** @type {string} */ line) =>
  line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));

/**
 * True if the line has the names of columns: several cells, without a digit.
 *
 * @param {string} line
 */
const isHead = (line) => cellsOf(line).length > 1 && !/\d/.test(line);

/**
 * The edit of a line, or what is wrong with it.
 *
 * @param {string} line
 * @param {number} atMs
 * @returns {any}
 */
function lineOf(line, atMs) {
  const cells = cellsOf(line);
  const [like, count = '', arrival = '', every = ''] = cells;
  if (!like) return 'the job to copy is missing; begin the line with the id of a job.';
  if (cells.length > COLUMNS.length)
    return `it has ${cells.length} cells; at most ${COLUMNS.length}: ${COLUMNS.join(', ')}.`;
  if (count && !/^[1-9]\d{0,5}$/.test(count)) return `the number of jobs is a whole number from 1 on, got “${count}”.`;
  const times = { arrival_ms: arrival, every_ms: every };
  /** @type {any} */
  const edit = { verb: 'add_jobs', at_ms: atMs, like, count: Number(count || 1) };
  for (const [name, cell] of Object.entries(times)) {
    if (!cell) continue;
    edit[name] = parseTime(cell);
    if (edit[name] === null) return timeProblem(cell);
  }
  if (edit.arrival_ms < atMs) return `the arrival “${arrival}” is before the edit takes effect; enter a later time.`;
  return edit;
}
