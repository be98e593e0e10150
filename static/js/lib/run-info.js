// What does not change during a run: its cluster, its scheduler, its jobs, and which resources play a part.

import { get } from './api.js';

const NAMES = { gpu: 'GPU', cpu: 'vCPU', memory: 'memory', storage: 'storage', bandwidth: 'bandwidth' };

/** GET static/, with names [resource] and used [resource]: whether servers can run out of it and some job asks for it. */
export async function runInfo(runId) {
  const info = await get(`/api/runs/${runId}/static/`);
  info.names = info.resources.map((name) => NAMES[name] ?? name);
  info.used = info.resources.map((name, r) => info.limits.includes(name) && (usedAt(info.worker, r) || usedAt(info.ps, r)));
  return info;
}

function usedAt(demands, r) {
  for (let i = r; i < demands.length; i += 5) if (demands[i] > 0) return true;
  return false;
}
