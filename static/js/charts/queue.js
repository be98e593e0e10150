// How many jobs wait and run over time, and how many are completed and rejected, as known at the playhead.

import { colors } from '../lib/colors.js';
import { number } from '../lib/format.js';
import { addInterval, addStep, settle } from '../lib/usage.js';
import { NEVER } from '../store.js';
import { Curves } from './curves.js';

/** {waiting (queued or planned), running, completed, rejected}: mean number of jobs per bin, up to the moment p. */
export function counts({ jobs, verdicts }, p, from, width, bins) {
  const make = () => new Float64Array(bins + 2);
  const sums = { waiting: make(), running: make(), completed: make(), rejected: make() };
  for (let job = 0; job < jobs.length; job++) {
    const arrived = jobs.arrived_ms[job];
    if (arrived === NEVER || arrived > p) continue;
    const rejected = verdicts[job]?.[0] === 'rejected' && jobs.decided_ms[job] <= p;
    const start = jobs.start_ms[job] === NEVER ? Infinity : jobs.start_ms[job];
    const completed = jobs.completed_ms[job] === NEVER ? Infinity : jobs.completed_ms[job];
    const left = rejected ? jobs.decided_ms[job] : start;
    addInterval(sums.waiting, bins, from, width, arrived, Math.min(left, p), 1);
    if (rejected) addStep(sums.rejected, bins, from, width, jobs.decided_ms[job], 1);
    else if (start <= p) addInterval(sums.running, bins, from, width, start, Math.min(completed, p), 1);
    if (completed <= p) addStep(sums.completed, bins, from, width, completed, 1);
  }
  for (const sum of Object.values(sums)) settle(sum, bins);
  return sums;
}

export function queueChart(canvas, { store, view, playhead, legend }) {
  const compute = (range, p, bins) => {
    const width = (range.to - range.from) / bins;
    const sums = counts(store, p, range.from, width, bins);
    const length = Math.max(0, Math.min(bins, Math.ceil((p - range.from) / width)));
    const x = Float64Array.from({ length }, (_, i) => range.from + i * width);
    const c = colors();
    const curve = (key, color, extra) => ({ key, name: key, unit: 'jobs', color, x, y: sums[key].subarray(0, length), ...extra });
    return [curve('waiting', c.warn, { fill: true }), curve('running', c.accent, { fill: true }),
      curve('completed', c.good, { dash: [5, 3] }), curve('rejected', c.bad, { dash: [2, 2] })];
  };
  const exact = (t, p) => (t > p ? {} : Object.fromEntries(Object.entries(counts(store, t + 1, t, 1, 1)).map(([key, sum]) => [key, sum[0]])));
  const y = { min: 0, suggestedMax: 4, border: { display: false }, ticks: { precision: 0, maxTicksLimit: 5 } };
  return new Curves(canvas, { view, playhead, legend, compute, exact, format: (v) => number(v, 0), y, hidden: ['completed', 'rejected'] });
}
