// Slotted: workers and parameter servers that hold resources of a server in time slots.

import { allocated, allocationCurves, offered } from '../charts/use/allocation.js';
import { SHARED_STATES } from '../core/job-state.js';
import { heldBy } from '../core/columns/bars.js';
import { SITES, capacitySteps, largest, perUnit, serverAt } from '../util/capacity.js';
import { resourceMeasures } from '../core/held-shares.js';

const TILES = { gpu: 0, cpu: 1 }; // resource of each tile
const COUNT = 5; // resources

export const slotted = {
  name: 'slotted',
  states: SHARED_STATES,
  otherStates: {},
  stops: (_story, { pauses }) => ({ suspended: pauses }),
  inUse: () => 'Allocation',
  tiles: ({ limits }) =>
    Object.keys(TILES)
      .filter((key) => limits.includes(key))
      .map((key) => [key, `utilization.${key}`]),
  shares,
  utilization: allocationCurves,
  jobColumns: [],
  legend: [
    { mark: 'solid', text: 'worker', single: true },
    { mark: 'hatch', text: 'parameter server', single: true },
  ],
  layers: () => [],
  ofJobs: () => true,
  subRows: () => null,
  measures: resourceMeasures,
  stacks,
  barsOn: (own) => own,
};

/** Both sites together, of those that have the resource: what is held where a site never stated any has no share. */
function shares(store, info, p, from, width, bins) {
  const { servers } = info.cluster;
  const use = allocated(store, info, p, from, width, bins);
  const room = offered(servers, p, from, width, bins);
  const share = (r) => {
    const stating = SITES.map((site) => servers.some((server) => server.site === site && states(server, p, r)));
    const held = (i) => SITES.reduce((sum, _, at) => sum + (stating[at] ? use[at * COUNT + r][i] : 0), 0);
    return Float64Array.from({ length: bins }, (_, i) => {
      const capacity = room[r][i] + room[COUNT + r][i];
      return capacity > 0 ? held(i) / capacity : NaN;
    });
  };
  return Object.fromEntries(Object.entries(TILES).map(([key, r]) => [key, share(r)]));
}

/** True if a server has, or has had, some of a resource, as known at p. */
function states(server, p, r) {
  const { capacity, was = [] } = serverAt(server, p);
  return [capacity, ...was.map(([, amounts]) => amounts)].some((amounts) => amounts[r] > 0);
}

/** Each relevant resource, by job. */
function stacks(server, info, bars) {
  return info.names.flatMap((name, r) => {
    const capacity = perUnit(capacitySteps(server, r), 1000);
    if (!info.used[r] || !largest(capacity)) return [];
    const amountOf = (bar) => {
      const columns = bars();
      return columns.shared?.[bar] ? 0 : heldBy(columns, bar, r, info) / 1000;
    };
    return [{ key: info.resources[r], title: name, unit: info.units[r], capacity, amountOf }];
  });
}
