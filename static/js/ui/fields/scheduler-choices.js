// Options of a form for schedulers; those that this installation cannot run are disabled, with the reason.

import { offeredText } from './offered.js';

/** [{ value, text, disabled, selected }]: `wanted` is selected if it can be used, otherwise the first that can. */
export function choices(schedulers, wanted) {
  const able = schedulers.filter((s) => !s.unavailable);
  const chosen = able.find((s) => s.name === wanted) ?? able[0];
  return schedulers.map((s) => ({
    value: s.name,
    text: offeredText(s),
    disabled: Boolean(s.unavailable),
    selected: s === chosen,
  }));
}
