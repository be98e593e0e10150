// Static data of a run: its cluster, scheduler, jobs, and the relevant resources.

import { get } from './api.js';
import { RESOURCE_COUNT } from '../util/capacity.js';
import { rulesOf } from '../util/run-modes.js';

/** @typedef {import('../util/capacity.js').WithOutages & {name: string, site: string, added_ms?: number}} Plain */
/** @typedef {Plain & {states?: [fromMs: number, state: string, reason: string][]}} Server */

/**
 * Response of GET static/, with display names of the resources.
 *
 * @typedef {object} RunInfo
 * @property {string[]} resources [resource] as the API names them
 * @property {string[]} limits the resources that servers can run out of
 * @property {string[]} names [resource]
 * @property {boolean[]} used [resource] whether servers can run out of it and some job asks for it
 * @property {number[]} worker flat [job][resource]
 * @property {number[]} ps flat [job][resource]
 * @property {Record<number, import('./columns/bars.js').EarlierSize[]>} [earlier_sizes] of jobs that restarted with
 *   another size, in order
 * @property {string[]} ids [job]
 * @property {{name: string, servers: Server[]}} cluster
 * @property {{id: number, mode: string, status: string, began_at: string | null}} run as it was when the
 *   page was loaded
 * @property {boolean} [slotsAreGpus] whether the slots of bars are GPUs of a real cluster, not typed workers
 * @property {boolean} worth whether some job has a utility
 * @property {object} [notes] of a cut of a real cluster: what it assumes
 * @property {{key: string, title: string, format: string}[]} job_columns of the table of jobs
 * @property {{
 *   from_ms: number, model: string, title: string, quotes: boolean, summary: string, unused?: string[],
 * }[]} phases in order, with their schedulers
 * @property {Record<string, {title: string, text: string}>} covers by key, the phases of metrics that do not cover the
 *   whole run
 */

/** @type {Record<string, string>} */
const NAMES = { gpu: 'GPU', cpu: 'vCPU', memory: 'memory', storage: 'storage', bandwidth: 'bandwidth' };

/**
 * Name of a run in a comparison, whose number stays beside its mark: 'OASiS · 2'.
 *
 * @param {{title: string, id: number}} run
 */
export const runLabel = ({ title, id }) => `${title} ·\u00a0${id}`;

/**
 * @param {number | string} runId
 * @returns {Promise<RunInfo>}
 */
export async function runInfo(runId) {
  /** @type {RunInfo} */
  const info = await get(`/api/runs/${runId}/static/`);
  info.names = info.resources.map((name) => NAMES[name] ?? name);
  info.slotsAreGpus = !rulesOf(info.run).simulated;
  const earlier = Object.values(info.earlier_sizes ?? {}).flatMap((sizes) => sizes.flatMap(([, worker]) => worker));
  const asked = info.resources.map((_, r) => [info.worker, info.ps, earlier].some((demands) => usedAt(demands, r)));
  info.used = info.resources.map((name, r) => info.limits.includes(name) && asked[r]);
  return info;
}

/**
 * Adds the new jobs of a real cluster, and changes its servers where they are, as charts hold on to them. False if
 * servers were added or moved to another site: the page has to be reloaded.
 *
 * @param {RunInfo} info
 * @param {RunInfo} fresh
 */
export function grow(info, fresh) {
  const sites = (/** @type {RunInfo} */ of) => of.cluster.servers.map((server) => server.site).join();
  const same = sites(fresh) === sites(info);
  if (!same) return false;
  const { servers } = info.cluster;
  servers.forEach((server, i) => become(server, fresh.cluster.servers[i]));
  Object.assign(info, fresh, { cluster: { ...fresh.cluster, servers }, earlier_sizes: fresh.earlier_sizes });
  return true;
}

/**
 * @param {Server} server
 * @param {Server} now
 */
function become(server, now) {
  for (const key of /** @type {(keyof Server)[]} */ (Object.keys(server))) if (!(key in now)) delete server[key];
  Object.assign(server, now);
}

/**
 * @param {number[]} demands
 * @param {number} r
 */
function usedAt(demands, r) {
  for (let i = r; i < demands.length; i += RESOURCE_COUNT) if (demands[i] > 0) return true;
  return false;
}
