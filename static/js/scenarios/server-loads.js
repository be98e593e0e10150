// Loads of the servers at the time of a fork, and the busiest of them.

import { AVAILABLE, PER_MILLE, SCARCEST, colouredBy, scaleTitle } from '../charts/servers/server-map.js';

/**
 * Map of name -> {share from 0 to 1, jobs, of}: of the resource of which the largest share is allocated.
 *
 * @param {any} loads of the API; empty without a parent run
 * @returns {Map<string, {share: number, jobs: number, of: string, available: boolean}>}
 */
export function loadsOf(loads) {
  if (!loads.scale) return new Map();
  const { scale, servers } = loads;
  const most = colouredBy(loads, SCARCEST);
  return new Map(
    servers.name.map((name, i) => {
      const place = servers.shares.findIndex((shares) => shares[i] === most[i]);
      return [
        name,
        {
          share: Math.max(0, most[i]) / PER_MILLE,
          jobs: servers.jobs[i],
          of: scaleTitle(scale[Math.max(0, place)]),
          available: servers.state[i] === AVAILABLE,
        },
      ];
    }),
  );
}

/**
 * Names of the `count` available servers with the largest shares; of equal ones that with more jobs, then the first.
 *
 * @param {ReturnType<typeof loadsOf>} loads
 * @param {number} count
 */
export function busiest(loads, count) {
  return [...loads]
    .filter(([, { share, available }]) => available && share > 0)
    .sort(([, a], [, b]) => b.share - a.share || b.jobs - a.jobs)
    .slice(0, count)
    .map(([name]) => name);
}
