// The cluster of a trace, from its machines.

import { get } from '../core/api.js';

/**
 * The oldest one of the trace: later ones are the same machines with another slot length or horizon. Null without one.
 *
 * @param {number | string} trace
 */
export async function ownCluster(trace) {
  const { results } = await get(`/api/clusters/?trace=${trace}&size=500`); // the newest first
  return results.at(-1) ?? null;
}
