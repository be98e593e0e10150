// Outages and drains of a server in words.

import { OPEN } from '../columns/bars.js';
import { clock } from '../../util/format.js';

/**
 * States of a node of a live cluster, in the order of time: [ms, state, reason].
 *
 * @typedef {[from: number, state: string, reason: string][]} States
 */

/**
 * 'unavailable until 10:00:00: fan 3 replaced'; 'not in the cluster until it was added at 10:00:00' of
 * the time before an edit added the server.
 *
 * @param {{added_ms?: number, states?: States}} server
 * @param {[from: number, until: number]} outage
 * @param {number} p time as known at which
 */
export function outageText({ added_ms: added, states = [] }, [from, until], p) {
  if (until === added) return `not in the cluster until it was added at ${clock(until)}`;
  const stated = states.findLast(([at, , reason]) => reason && from <= at && at < until && at <= p);
  const [, , why] = stated ?? [];
  return `${until < OPEN ? `unavailable until ${clock(until)}` : 'unavailable'}${why ? `: ${why}` : ''}`;
}

/**
 * Times without capacity of a server: '; 0 until it was added at 10:00:00; 0 in outages', without what does not apply.
 *
 * @param {{added_ms?: number}} server
 * @param {[from: number, until: number][]} outages
 */
export function zeroText({ added_ms: added }, outages) {
  const addition = outages.some(([, until]) => until === added);
  const others = outages.some(([, until]) => until !== added);
  return `${addition ? `; 0 until it was added at ${clock(added ?? 0)}` : ''}${others ? '; 0 in outages' : ''}`;
}

/**
 * Intervals in which a node was draining, as known at p: {from, until, reason}.
 *
 * @param {{states?: States}} server
 * @param {number} p
 */
export function drainsOf({ states = [] }, p) {
  return states
    .map(([from, state, reason], i) => ({ from, until: states[i + 1]?.[0] ?? OPEN, reason, state }))
    .filter(({ from, state }) => state === 'draining' && from <= p);
}

/**
 * State of a server at p other than available: {state: 'unavailable' | 'draining', text}; null if it takes jobs.
 *
 * @param {{added_ms?: number, states?: States}} server
 * @param {[from: number, until: number][]} outages
 * @param {number} p
 */
export function restrictionOf(server, outages, p) {
  const outage = outages.find(([begin, end]) => begin <= p && p < end);
  if (outage) return { state: 'unavailable', text: outageText(server, outage, p) };
  const drain = drainsOf(server, p).find(({ until }) => p < until);
  return drain ? { state: 'draining', text: drainText(drain) } : null;
}

/** @param {{reason: string}} drain */
export const drainText = ({ reason }) => `draining, takes no new jobs${reason ? `: ${reason}` : ''}`;
