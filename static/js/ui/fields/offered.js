// Options of a form for what the API lists by name; what this installation cannot use is disabled.

import { h } from '../dom.js';

/** Text of a row {title, unavailable} in a list. */
export const offeredText = ({ title, unavailable }) => (unavailable ? `${title} (not available)` : title);

/** Option of a row; its value is the name. */
export function offeredOption(row, name, selected = false) {
  return h('option', { value: name, selected, disabled: Boolean(row.unavailable) }, offeredText(row));
}
