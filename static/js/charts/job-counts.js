// Number of jobs in each state over time, as known at the playhead.

import { colors } from '../util/colors.js';
import { number } from '../util/format.js';
import { binsBegun } from '../util/interval-sums.js';
import { STATE_COLORS, jobCounts } from '../core/job-state.js';
import { Curves } from './parts/line-panel.js';

const OVER = ['completed', 'rejected', 'unfinished']; // cumulative counts: hidden at first
// distinguishable without colour, too
const DASHES = {
  suspended: [8, 2],
  completed: [5, 3],
  rejected: [2, 2],
  unfinished: [1, 3],
  profiling: [1, 2],
  moving: [6, 2],
};

/** Curves of the number of jobs in each state. states: {key, name} of each state that jobs of the run can be in. */
export function countCurves(store, states, range, p, bins) {
  const width = (range.to - range.from) / bins;
  const sums = jobCounts(store, p, range.from, width, bins);
  const length = binsBegun(bins, range.from, width, p);
  const x = Array.from({ length }, (_, i) => range.from + i * width);
  // up to the time shown, where the counts are those of the legend: at the end of a run they drop
  const last = length && p > x[length - 1] && p <= range.to ? countsAt(store, p, p) : null;
  const c = colors();
  return states.map(({ key, name }) => ({
    key,
    name,
    unit: 'jobs',
    color: c[STATE_COLORS[key]],
    x: last ? [...x, p] : x,
    y: last ? [...sums[key].subarray(0, length), last[key]] : sums[key].subarray(0, length),
    stepped: true,
    dash: DASHES[key],
    fill: !DASHES[key],
  }));
}

/** {state: number of jobs} at the time t, as known at p. */
const countsAt = (store, t, p) =>
  Object.fromEntries(Object.entries(jobCounts(store, p, Math.floor(t), 1, 1)).map(([key, sum]) => [key, sum[0]]));

/** states: as for countCurves. */
export function queueChart(canvas, { store, states, view, playhead, legend }) {
  const compute = (range, p, bins) => countCurves(store, states, range, p, bins);
  const exact = (t, p) => (t > p ? {} : countsAt(store, t, p));
  const y = { min: 0, suggestedMax: 4, border: { display: false }, ticks: { precision: 0, maxTicksLimit: 5 } };
  return new Curves(canvas, { view, playhead, legend, compute, exact, format: (v) => number(v, 0), y, hidden: OVER });
}
