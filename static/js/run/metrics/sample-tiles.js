// Tiles of the newest sample of a server: what it really used, and how old that is.

import { UNKNOWN } from '../../core/columns/samples.js';
import { serverAt } from '../../util/capacity.js';
import { rulesOf } from '../../util/run-modes.js';
import { capital, duration, number, percent } from '../../util/format.js';
import { h } from '../../ui/dom.js';
import { tile } from '../../ui/labels/tile.js';

const USED = ['gpu', 'cpu', 'memory']; // [resource]

/**
 * The present in ms of the log of a live cluster, by the newest status message; null for other runs. Its log may
 * stand still, and its samples grow old.
 *
 * @param {any} status
 * @param {number} receivedAt wall ms of this machine
 */
export function presentOf(status, receivedAt) {
  if (!rulesOf(status).dated || status.status !== 'running' || status.clock.wall_ms === null) return null;
  return status.server_wall_ms - status.clock.wall_ms + Date.now() - receivedAt;
}

/**
 * Tiles of the newest sample at moment p; none where the server was never sampled.
 *
 * @param {import('../../core/store.js').Store} store
 * @param {any} info
 * @param {number} server
 * @param {number} p
 * @param {number | null} present to which the age counts; null = p
 */
export function sampleTiles({ samples: { newest } }, info, server, p, present = null) {
  if (server >= newest.length || newest.at_ms[server] === UNKNOWN) return [];
  const at = newest.at_ms[server];
  const hint = 'The newest sample of the use of this server';
  if (at > p)
    return [tile('Sample', '–', { hint: 'The newest sample is later than the time shown', id: 'sample-age' })];
  const { capacity } = serverAt(info.cluster.servers[server], at);
  const used = USED.flatMap((name, r) => {
    const amount = newest[name][server];
    if (amount === UNKNOWN || !capacity[r]) return [];
    const title = `${capital(info.names[r])} used${info.units[r] === info.names[r] ? '' : `, ${info.units[r]}`}`;
    const value = [number(amount / 1000, 2), h('small', {}, ` of ${number(capacity[r] / 1000, 2)}`)];
    return [tile(title, value, { hint, id: `sample-${name}` })];
  });
  const share = newest.gpu_busy[server];
  const busy = share === UNKNOWN ? [] : [tile('GPU busy', percent(share / 1000), { hint, id: 'sample-busy' })];
  const age = duration(Math.max(1000, Math.round(((present ?? p) - at) / 1000) * 1000));
  return [...used, ...busy, tile('Sample age', age, { hint, id: 'sample-age' })];
}
