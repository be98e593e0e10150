// /ws/overview/: changes of runs and imports; reconnects by itself, and reports missed messages.

import { SESSION_ENDED } from '../api.js';
import { LiveSocket, detailOf } from './live-socket.js';

/**
 * on(message) for each message; missed() after a reconnect or when messages were dropped.
 *
 * @param {(message: any) => void} on
 * @param {() => void} missed
 */
export function watchOverview(on, missed) {
  const line = new LiveSocket('/ws/overview/');
  let known = false;
  line.addEventListener('open', () => {
    if (known) missed();
    known = true;
  });
  line.addEventListener('message', (event) => {
    const detail = detailOf(event);
    if (detail.type === 'snapshot_needed') missed();
    else if (detail.type !== 'pong') on(detail);
  });
  line.addEventListener('closed', (event) => {
    line.error = detailOf(event) === 4401 ? SESSION_ENDED : '';
  });
  line.open();
  return line;
}
