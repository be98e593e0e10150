// The legend of the schedule: the marks of the execution models of the run, for the rows that are shown.

import { modelsOf } from '../../models/index.js';
import { $, fill, h } from '../../ui/dom.js';

/**
 * A mark, shown only with such rows, such bars, or single bars.
 *
 * @typedef {{mark: string, text: string, rows?: string, role?: number, single?: boolean}} Mark
 */

/**
 * Marks of rows of jobs under every model (gantt/layers/job-marks.js).
 *
 * @type {Mark[]}
 */
export const OF_JOBS = [
  { mark: 'thin', text: 'queued or planned', rows: 'jobs' },
  { mark: 'crossed', text: 'rejected', rows: 'jobs' },
];

/** The marks for an order of rows and the bars of a run, each once: [{mark, text}]; single: whether bars are drawn. */
export function marksOf(info, order, { bars }, single = true) {
  const marks = [...modelsOf(info).flatMap(({ legend }) => legend), ...OF_JOBS];
  const hasBars = (role) => role === undefined || bars.role.includes(role);
  const drawn = (mark) => (single || !mark.single) && (!mark.rows || mark.rows === order) && hasBars(mark.role);
  return once(marks.filter(drawn));
}

const once = (marks) => marks.filter(({ text }, i) => marks.findIndex((other) => other.text === text) === i);

/** Fills a box with marks, each once with all that it means in the models of the runs. */
export function paintMarks(box, marks) {
  const meanings = new Map();
  for (const { mark, text } of once(marks)) meanings.set(mark, [...(meanings.get(mark) ?? []), text]);
  fill(
    box,
    [...meanings].map(([mark, texts]) => h('span', {}, h('i', { class: mark }), texts.join(' / '))),
  );
}

/** () renders the legend, if its marks have changed: with the rows, with new bars, or where all rows are shaded. */
export function ganttLegend(gantt, info, store) {
  /** @type {string | null} */
  let painted = null;
  return () => {
    const marks = marksOf(info, gantt.rows.order, store, !gantt.allShaded);
    const texts = marks.map(({ text }) => text).join();
    if (texts === painted) return;
    const box = $('#gantt-marks');
    paintMarks(box, marks);
    box.dataset.known = ''; // also where there are none; the note is hidden until then
    painted = texts;
  };
}
