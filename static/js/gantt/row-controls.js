// Controls of the rows of a schedule, or of several below each other: filter, height and zoom.

import { url } from '../ui/address/query.js';
import { $, debounce } from '../ui/dom.js';

/**
 * Connects the filter and the buttons; the filter is kept in the address.
 *
 * @param {{setQuery: (text: string) => void, scaleRows: (factor: number) => boolean[]}} rows
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
  const scale = (factor) => {
    const [lower, taller] = rows.scaleRows(factor);
    $('#rows-lower').disabled = !lower;
    $('#rows-higher').disabled = !taller;
  };
  $('#rows-lower').addEventListener('click', () => scale(1 / 1.5));
  $('#rows-higher').addEventListener('click', () => scale(1.5));
  $('#rows-fit').addEventListener('click', () => scale(0));
  $('#zoom-fit').addEventListener('click', () => view.fit());
}
