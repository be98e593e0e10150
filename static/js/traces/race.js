// Race of a trace in one step: every scheduler that supports its jobs, on its own cluster or the newest one that fits.

import { get, post } from '../core/api.js';
import { Refusal } from '../core/client-errors.js';
import { ownCluster } from '../scenarios/own-cluster.js';
import { suitability } from '../scenarios/suitability.js';

const FIRST = 'oasis'; // whose execution model the race has

/** Starts the race; the address of its comparison. @param {{id: number, name: string}} trace */
export async function raceAll({ id, name }) {
  const [schedulers, own] = await Promise.all([get('/api/schedulers/'), ownCluster(id)]);
  const able = schedulers.filter((one) => !one.unavailable);
  const scheduler = (able.find((one) => one.name === FIRST) ?? able[0]).name;
  const cluster = own?.id ?? (await suitability({ trace: String(id), scheduler, parameters: {} })).cluster;
  if (!cluster) {
    const { count } = await get('/api/clusters/?size=1');
    const none = count ? 'The jobs fit on none of the newest clusters' : 'There is no cluster yet';
    throw new Refusal(`${none}; “Use in a scenario” can generate one for these jobs.`);
  }
  const scenario = await post('/api/scenarios/', { name: `${name}, all schedulers`, cluster, trace: id, scheduler });
  return (await post(`/api/scenarios/${scenario.id}/race/`)).compare;
}
