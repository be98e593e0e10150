// Badge at the top of the page: state of the connection and age of the data.

import { watchOverview } from '../core/sockets/overview-socket.js';
import { $ } from './dom.js';
import { clock, duration, wallClock } from '../util/format.js';

/** @typedef {{state: string, heardAt: number, ended?: boolean, endMs?: number | null, outcome?: string,
 *   error?: string}} Source */

/** @type {Record<string, string>} */
const TEXT = {
  connecting: 'connecting',
  live: 'connected',
  offline: 'offline',
  paused: 'paused in the background',
  refused: 'not connected',
  deleted: 'deleted',
  unavailable: 'not available',
  closed: 'not connected',
};
const MIN_AGE_MS = 6000; // a lower age is not shown: it is normal between two pings

/**
 * Text of the badge at the wall time nowMs. ended: the data do not change and do not age; endMs: the end of the data;
 * outcome: how it ended.
 *
 * @param {Source} source
 * @param {number} nowMs
 */
export function badgeText({ state, heardAt, ended = false, endMs = null, outcome = 'complete', error = '' }, nowMs) {
  const age = heardAt ? nowMs - heardAt : 0;
  const ages = !ended && heardAt > 0;
  let text = TEXT[state];
  if (state === 'live' && ended) text = endMs === null ? outcome : `${outcome}, ended at ${clock(endMs)}`;
  else if (state === 'live' && ages && age > MIN_AGE_MS)
    text += `, data ${duration(Math.round(age / 1000) * 1000)} old`;
  else if (state === 'offline')
    text += ages
      ? `: last data ${wallClock(heardAt)}, ${duration(Math.round(age / 1000) * 1000)} ago; reconnecting`
      : '; reconnecting';
  return error ? `${text}: ${error}` : text;
}

/**
 * Updates the badge; source: an object with `state` and `heardAt` that announces changes by the event `name`.
 *
 * @param {HTMLElement} element
 * @param {EventTarget & Source} source
 * @param {string} name
 */
export function connectionBadge(element, source, name = 'connection') {
  const paint = () => {
    element.hidden = false;
    const stopped = source.state === 'live' && source.ended && source.outcome !== 'complete';
    element.dataset.state = stopped ? 'stopped' : source.state; // a cancelled run is not green
    element.textContent = badgeText(source, Date.now());
    element.title = element.textContent; // a narrow bar cuts it
  };
  source.addEventListener(name, paint);
  setInterval(paint, 1000);
  paint();
}

/** on(message) for each message; missed() after a reconnect or when messages were dropped. */
export function followOverview(on, missed) {
  const line = watchOverview(on, missed);
  const badge = $('#connection');
  if (badge) connectionBadge(badge, line, 'change');
}
