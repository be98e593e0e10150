// Rows of a schedule in view, of those that it has: it scrolls on screen, and not on paper.

import { number } from '../util/format.js';

/** 'Rows 1 to 34 of 100 are in view.'; '' if all are. @param {any} gantt */
export function rowsInView({ frame, rows: { list } }) {
  const { first, views } = frame;
  if (views.length === list.length) return '';
  const last = first + views.length;
  return `Rows ${number(first + 1, 0)} to ${number(last, 0)} of ${number(list.length, 0)} are in view.`;
}
