// Sentence on which rows of a schedule are in view; on paper the others cannot be reached by scrolling.

import { number } from '../util/format.js';

/** 'Rows 1 to 34 of 100 are in view.'; '' if all rows are. @param {any} gantt */
export function rowsInView({ frame, rows: { list } }) {
  const { first, views } = frame;
  if (views.length === list.length) return '';
  const [from, to, all] = [first + 1, first + views.length, list.length].map((value) => number(value, 0));
  return from === to ? `Row ${from} of ${all} is in view.` : `Rows ${from} to ${to} of ${all} are in view.`;
}
