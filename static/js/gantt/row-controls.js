// Controls of the rows of a schedule, or of several below each other: filter, height and zoom.

import { url } from '../ui/address/query.js';
import { $, debounce } from '../ui/dom.js';

/**
 * Connects the filter and the buttons; the filter is kept in the address.
 *
 * @param {{setQuery: (text: string) => void, scaleRows: (factor: number) => void}} rows
 * @param {import('../core/ranges/time-range.js').View} view
 */
export function wireRows(rows, view) {
  const filter = $('#row-filter');
  filter.value = url.get('filter') ?? '';
  if (filter.value) rows.setQuery(filter.value);
  filter.addEventListener(
    'input',
    debounce(() => {
      rows.setQuery(filter.value);
      url.set({ filter: filter.value });
    }, 200),
  );
  $('#rows-lower').addEventListener('click', () => rows.scaleRows(1 / 1.5));
  $('#rows-higher').addEventListener('click', () => rows.scaleRows(1.5));
  $('#rows-fit').addEventListener('click', () => rows.scaleRows(0));
  $('#zoom-fit').addEventListener('click', () => view.fit());
}
