// Clusters from rows of count x type x site: their cluster.json, sums and errors.

import { SITES } from '../util/capacity.js';
import { number, plural } from '../util/format.js';

export const RESOURCES = [
  ['gpu', 'GPU'],
  ['cpu', 'vCPU'],
  ['memory', 'GB memory'],
  ['storage', 'GB storage'],
  ['bandwidth', 'Gbps'],
];
export const MAX_SERVERS = 20_000; // that a request holds
const NAME = /^[A-Za-z0-9._-]{1,80}$/;

/** row: {count, type, site, roles: [worker, ps], capacity: {gpu, cpu, ...}} with numbers. */
export function clusterOf({ name, slot_ms, horizon_slots, rows }) {
  const servers = rows.flatMap(({ count, type, site, roles, capacity }) => {
    const digits = String(count).length;
    return Array.from({ length: count }, (_, i) => ({
      name: `${type}-${String(i + 1).padStart(digits, '0')}`,
      site,
      roles,
      capacity,
    }));
  });
  return { name, slot_ms, horizon_slots: horizon_slots ?? null, servers };
}

/** [{site, servers, gpu, cpu, ...}] of the sites that have servers. */
export function sums(rows) {
  return SITES.map((site) => {
    const own = rows.filter((row) => row.site === site && row.count > 0);
    const total = { site, servers: own.reduce((sum, row) => sum + row.count, 0) };
    for (const [key] of RESOURCES) total[key] = own.reduce((sum, row) => sum + row.count * (row.capacity[key] || 0), 0);
    return total;
  }).filter((total) => total.servers);
}

/** [[row index or null, field, sentence], ...] */
export function problems({ name, slot_ms, horizon_slots, rows }) {
  const found = [];
  if (!name.trim()) found.push([null, 'name', 'Enter a name.']);
  if (!(slot_ms >= 1)) found.push([null, 'slot', 'Enter a value above 0 min.']);
  if (horizon_slots !== undefined && !(Number.isInteger(horizon_slots) && horizon_slots >= 1))
    found.push([null, 'horizon', 'Enter a whole number of at least 1, or leave it empty.']);
  const types = new Set();
  rows.forEach((row, i) => {
    if (!Number.isInteger(row.count) || row.count < 1) found.push([i, 'count', 'Enter a whole number of at least 1.']);
    if (!NAME.test(row.type)) found.push([i, 'type', 'Use only letters, digits, dots, underscores and hyphens.']);
    else if (types.has(row.type)) found.push([i, 'type', 'Another row has this type.']);
    types.add(row.type);
    if (!row.roles.length) found.push([i, 'roles', 'Select at least one role.']);
    for (const [key] of RESOURCES) {
      const amount = row.capacity[key];
      if (!(amount >= 0)) found.push([i, key, 'Enter a number of at least 0.']);
      else if (amount !== Number(amount.toFixed(3))) found.push([i, key, 'Use at most three decimals.']);
    }
  });
  const total = rows.reduce((sum, row) => sum + (row.count || 0), 0);
  if (!rows.length) found.push([null, 'rows', 'Add at least one row.']);
  else if (total > MAX_SERVERS)
    found.push([
      null,
      'rows',
      `This form creates at most ${plural(MAX_SERVERS, 'server')}, not ${number(total, 0)}; for more, import a list ` +
        'of servers on the page Traces.',
    ]);
  return found;
}

/**
 * Position of a refusal of the server: [row index or null, field]. It begins with "server <type>-<n>: ..." or names a
 * field.
 */
export function placeOf(message, rows) {
  const server = /\bserver (\S+?)-\d+:/.exec(message)?.[1];
  const row = rows.findIndex(({ type }) => type === server);
  const resource = RESOURCES.find(([key]) => message.includes(`capacity.${key}`))?.[0];
  if (row >= 0) return [row, resource ?? 'type'];
  if (/horizon/.test(message)) return [null, 'horizon'];
  if (/slot_ms/.test(message)) return [null, 'slot'];
  return [null, /name/.test(message) ? 'name' : 'rows'];
}

/**
 * Servers of a cluster.json that differ only in their network, the most common first: [{count, first, last, site,
 * roles, capacity, gbps: [least, most], away: number with outages}].
 */
export function alike(servers) {
  const kinds = new Map();
  for (const { name, site, roles, capacity, away } of servers) {
    const { bandwidth = 0, ...rest } = capacity;
    const key = JSON.stringify([site, roles, rest]);
    const kind = kinds.get(key) ?? {
      count: 0,
      first: name,
      last: name,
      site,
      roles,
      capacity,
      gbps: [bandwidth, bandwidth],
      away: 0,
    };
    kind.count++;
    kind.last = name;
    kind.gbps = [Math.min(kind.gbps[0], bandwidth), Math.max(kind.gbps[1], bandwidth)];
    if (away?.length) kind.away++;
    kinds.set(key, kind);
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count);
}

/** Available GPUs over time, as steps: [[from_ms, gpus], ...]; one step without outages. */
export function gpusOverTime(servers) {
  const changes = new Map([[0, 0]]);
  const add = (ms, gpus) => changes.set(ms, (changes.get(ms) ?? 0) + gpus);
  for (const { capacity, away } of servers) {
    const gpus = capacity.gpu ?? 0;
    add(0, gpus);
    for (const [from, to] of away ?? []) {
      add(from, -gpus);
      add(to, gpus);
    }
  }
  let sum = 0;
  const steps = [...changes].sort((a, b) => a[0] - b[0]).map(([ms, change]) => [ms, (sum += change)]);
  return steps.filter(([, gpus], i) => i === 0 || gpus !== steps[i - 1][1]);
}
