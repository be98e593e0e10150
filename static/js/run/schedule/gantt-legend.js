// The legend of the schedule: the marks of the execution models of the run, for the rows that are shown.

import { modelsOf } from '../../models/index.js';
import { $, fill, h } from '../../ui/dom.js';

/** The marks for an order of rows, each once: [{mark, text}]. */
export function marksOf(info, order) {
  const marks = modelsOf(info).flatMap(({ legend }) => legend);
  const here = marks.filter(({ rows }) => !rows || rows === order);
  return here.filter(({ text }, i) => here.findIndex((other) => other.text === text) === i);
}

/** Renders the legend, and again when the order of rows changes. */
export function ganttLegend(gantt, info) {
  const paint = () => {
    const marks = marksOf(info, gantt.rows.order).map(({ mark, text }) => h('span', {}, h('i', { class: mark }), text));
    fill($('#gantt-marks'), marks);
  };
  $('#gantt-rows').addEventListener('click', paint);
  paint();
}
