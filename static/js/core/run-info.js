// Static data of a run: its cluster, scheduler, jobs, and the relevant resources.

import { get } from './api.js';

/** @typedef {import('../util/capacity.js').WithOutages & {name: string, site: string}} Server */

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
 * @property {string[]} ids [job]
 * @property {{name: string, servers: Server[]}} cluster
 * @property {{id: number, mode: string, status: string}} run as it was when the page was loaded
 * @property {boolean} worth whether some job has a utility
 * @property {object} [notes] of a cut of a real cluster: what it assumes
 * @property {{key: string, title: string, format: string}[]} job_columns of the table of jobs
 * @property {{from_ms: number, model: string, title: string, quotes: boolean, summary: string}[]} phases in order, with
 *   their schedulers
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
  const asked = info.resources.map((_, r) => usedAt(info.worker, r) || usedAt(info.ps, r));
  info.used = info.resources.map((name, r) => info.limits.includes(name) && asked[r]);
  return info;
}

/**
 * Adds the new jobs of a real cluster. False if servers were added or moved to another site: the page has to be
 * reloaded.
 *
 * @param {RunInfo} info
 * @param {RunInfo} fresh
 */
export function grow(info, fresh) {
  const sites = (/** @type {RunInfo} */ of) => of.cluster.servers.map((server) => server.site).join();
  const same = sites(fresh) === sites(info);
  if (same) Object.assign(info, fresh);
  return same;
}

/**
 * @param {number[]} demands
 * @param {number} r
 */
function usedAt(demands, r) {
  for (let i = r; i < demands.length; i += 5) if (demands[i] > 0) return true;
  return false;
}
