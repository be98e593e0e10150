// The legend of the schedule: the marks of the execution models of the run, for the rows that are shown.

import { modelsOf } from '../../models/index.js';
import { $, fill, h } from '../../ui/dom.js';

/** @typedef {{mark: string, text: string, rows?: string, role?: number}} Mark rows, role: only with such rows, bars */

/**
 * Marks of rows of jobs under every model (gantt/layers/job-marks.js).
 *
 * @type {Mark[]}
 */
export const OF_JOBS = [
  { mark: 'thin', text: 'queued or planned', rows: 'jobs' },
  { mark: 'crossed', text: 'rejected', rows: 'jobs' },
];

/** The marks for an order of rows and the bars of a run, each once: [{mark, text}]. */
export function marksOf(info, order, { bars }) {
  const marks = [...modelsOf(info).flatMap(({ legend }) => legend), ...OF_JOBS];
  const hasBars = (role) => role === undefined || bars.role.includes(role);
  return once(marks.filter(({ rows, role }) => (!rows || rows === order) && hasBars(role)));
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

/** () renders the legend, if its marks have changed: with the order of rows, or with new bars. */
export function ganttLegend(gantt, info, store) {
  let painted = '';
  return () => {
    const marks = marksOf(info, gantt.rows.order, store);
    const texts = marks.map(({ text }) => text).join();
    if (texts === painted) return;
    paintMarks($('#gantt-marks'), marks);
    painted = texts;
  };
}
