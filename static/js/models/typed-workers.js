// Typed workers: chunks and gangs on workers of a type, each of which runs one chunk at a time.

import { typedWorkerCurves, typedWorkerRows, typedWorkerUse } from '../charts/use/typed-workers.js';
import { SHARED_STATES } from '../core/job-state.js';
import { PS } from '../core/columns/bars.js';
import { SuspensionLines, SuspensionMarks } from '../gantt/layers/suspensions.js';
import { Uploads } from '../gantt/layers/uploads.js';
import { workerSteps, largest } from '../util/capacity.js';
import { slotMeasures } from '../core/held-shares.js';
import { slotted } from './slotted.js';

export const typedWorkers = {
  name: 'typed_workers',
  states: SHARED_STATES,
  otherStates: {},
  stops: slotted.stops,
  inUse: (metrics) => metrics.get('lanes.mean_busy').title,
  tiles: () => [['busy', 'lanes.mean_busy']],
  shares,
  utilization: typedWorkerCurves,
  jobColumns: [],
  legend: [
    { mark: 'solid', text: 'worker', single: true },
    { mark: 'hatch', text: 'parameter server', single: true },
    { mark: 'flight', text: 'upload, or reload of the data of a gang', single: true },
    { mark: 'notched', text: 'Notched right edge: suspended. Notched left edge: resumed.', single: true },
  ],
  layers: ({ store, info, redraw }) => [
    new SuspensionLines(store),
    new SuspensionMarks(store),
    new Uploads(store, info, redraw),
  ],
  ofJobs: () => true,
  subRows: (server) => {
    const most = [0, 1].map((role) => largest(workerSteps(server, role)));
    return most[0] + most[1] ? most : null;
  },
  measures: slotMeasures,
  stacks,
  barsOn: (own) => own,
};

function shares(store, info, p, from, width, bins) {
  const sites = typedWorkerRows(info).filter(({ site, type }) => site !== null && type === null);
  const sums = typedWorkerUse(store, info, sites, p, from, width, bins);
  const sum = (which, bin) => sums.reduce((total, pair) => total + pair[which][bin], 0);
  const busy = Float64Array.from({ length: bins }, (_, bin) => (sum(1, bin) > 0 ? sum(0, bin) / sum(1, bin) : NaN));
  return { busy };
}

/** Its workers, and its slots for parameter servers, by job. */
function stacks(server, info, bars) {
  const stack = (role) => ({
    key: `workers${role}`,
    title: ['Workers', 'Parameter servers'][role],
    unit: ['workers', 'parameter servers'][role],
    capacity: workerSteps(server, role),
    amountOf: (bar) => Number(bars().worker_slot[bar] >= 0 && (bars().role[bar] === PS) === (role === 1)),
  });
  return [0, 1].map(stack).filter(({ capacity }) => largest(capacity) > 0);
}
