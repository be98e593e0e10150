// Observed: what a real cluster did. Bars are held GPUs or CPUs, and nothing is planned ahead.

import { observedCurves } from '../charts/use/allocated-used.js';
import { SUSPENDED } from '../core/columns/bars.js';
import { UnseenTimes } from '../core/ranges/unseen-times.js';
import { NowLine, Reservations, Unseen } from '../gantt/layers/observation.js';
import { ForecastLayer } from '../gantt/layers/forecast.js';
import { blankBefore } from '../util/interval-sums.js';
import { CPU } from '../util/capacity.js';
import { slotted } from './slotted.js';

/** Jobs of a real cluster end in several ways, of which the state knows one. */
const ENDED = {
  word: 'ended',
  meaning: 'has ended: completed, failed, cancelled or preempted; its reason says which',
};

export const observed = {
  ...slotted,
  name: 'observed',
  otherStates: { completed: ENDED },
  // it holds its place while it is suspended
  stops: ({ suspensions }, { pauses }) => ({ suspended: suspensions?.length ?? 0, requeued: pauses }),
  inUse: (metrics, store) => (store.samples.use.length ? 'Allocation and use' : 'Allocation'),
  shares,
  utilization: observedCurves,
  legend: [
    { mark: 'solid', text: 'held by a job', single: true },
    // only in a Slurm cluster
    { mark: 'hatch', text: 'held by a suspended job, without its CPUs', role: SUSPENDED, single: true },
    { mark: 'unobserved', text: 'cluster not observed' },
    { mark: 'reserved', text: 'reservation or maintenance' },
    { mark: 'now', text: 'now' },
    { mark: 'ahead', text: 'forecast' },
  ],
  layers: ({ store, view }) => [
    new Reservations(store),
    new Unseen(view.unseen ?? new UnseenTimes(store)),
    new ForecastLayer(),
    new NowLine(),
  ],
};

/**
 * Allocated shares; NaN (unknown) before the first poll. The share of CPUs is also NaN while no job states its CPUs:
 * every job holds some, and 0 would be wrong.
 */
function shares(store, info, p, from, width, bins) {
  const found = slotted.shares(store, info, p, from, width, bins);
  if (info.worker.length && !info.used[CPU]) found.cpu.fill(NaN);
  for (const share of Object.values(found)) blankBefore(share, from, width, store.seenFromMs);
  return found;
}
