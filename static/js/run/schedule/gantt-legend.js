// The legend of the schedule: the marks of the execution models of the run, for the rows that are shown.

import { modelsOf } from '../../models/index.js';
import { $, fill, h } from '../../ui/dom.js';

/** Marks of rows of jobs under every model (gantt/layers/job-marks.js). */
export const OF_JOBS = [
  { mark: 'thin', text: 'queued or planned', rows: 'jobs' },
  { mark: 'crossed', text: 'rejected', rows: 'jobs' },
];

/** The marks for an order of rows, each once: [{mark, text}]. */
export function marksOf(info, order) {
  const marks = [...modelsOf(info).flatMap(({ legend }) => legend), ...OF_JOBS];
  return once(marks.filter(({ rows }) => !rows || rows === order));
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

/** Renders the legend, and again when the order of rows changes. */
export function ganttLegend(gantt, info) {
  const paint = () => paintMarks($('#gantt-marks'), marksOf(info, gantt.rows.order));
  $('#gantt-rows').addEventListener('click', paint);
  paint();
}
