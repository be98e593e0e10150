// Times of the address: the time shown and the range of the charts, in ms of simulated time.

import { url } from './query.js';

/** @typedef {import('../../core/ranges/time-range.js').View} View */
/** @typedef {import('../../core/playhead.js').Playhead} Playhead */

/**
 * Moves the range and the moment to those of the address; sentences state what was not possible.
 *
 * @param {View} view
 * @param {Playhead} playhead
 * @param {boolean} finished false: the run may have reached a later time than is known here
 */
export function readTimes(view, playhead, finished) {
  const range = { instead: 'The whole time is shown.' };
  const [from, to] = ['from', 'to'].map((name) => url.number(name, range));
  if (from !== null && to !== null && to > from && from < view.extent) view.set(from, to);
  else if (from !== null && to !== null)
    url.refuse('from', `must be less than “to”, and less than the end of the run, ${view.extent} ms`, range.instead);
  const newest = Math.ceil(Math.max(playhead.liveMs, finished ? 0 : view.extent));
  const at = url.number('t', { to: newest, instead: 'The newest time is shown.' });
  if (at !== null) playhead.scrub(at);
}
