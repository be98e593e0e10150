// Previous and next buttons of a list that the server pages: "rows 26 to 50 of 1,310".

import { h } from './dom.js';
import { number } from '../util/format.js';

/** Elements of a pager; none if all rows fit on one page. onGo(page). */
export function pager({ page, size, count, rows }, onGo) {
  if (count <= size) return [];
  const pages = Math.ceil(count / size);
  const first = (page - 1) * size + 1;
  const go = (to, text) =>
    h('button', { type: 'button', disabled: to < 1 || to > pages, onclick: () => onGo(to) }, text);
  return [
    go(page - 1, 'Previous'),
    go(page + 1, 'Next'),
    h('span', {}, `rows ${number(first, 0)} to ${number(first + rows - 1, 0)} of ${number(count, 0)}`),
  ];
}
