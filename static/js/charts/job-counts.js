// Number of jobs in each state over time, as known at the playhead.

import { colors } from '../util/colors.js';
import { number } from '../util/format.js';
import { binsBegun } from '../util/interval-sums.js';
import { STATE_COLORS, jobCounts } from '../core/job-state.js';
import { stateWord, statesOf } from '../models/index.js';
import { Curves } from './line-panel.js';

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

export function queueChart(canvas, { store, info, view, playhead, legend }) {
  const states = statesOf(info);
  const compute = (range, p, bins) => {
    const width = (range.to - range.from) / bins;
    const sums = jobCounts(store, p, range.from, width, bins);
    const length = binsBegun(bins, range.from, width, p);
    const x = Float64Array.from({ length }, (_, i) => range.from + i * width);
    const c = colors();
    return states.map((key) => ({
      key,
      name: stateWord(info, key),
      unit: 'jobs',
      color: c[STATE_COLORS[key]],
      x,
      y: sums[key].subarray(0, length),
      dash: DASHES[key],
      fill: !DASHES[key],
    }));
  };
  const exact = (t, p) =>
    t > p
      ? {}
      : Object.fromEntries(Object.entries(jobCounts(store, p, Math.floor(t), 1, 1)).map(([key, sum]) => [key, sum[0]]));
  const y = { min: 0, suggestedMax: 4, border: { display: false }, ticks: { precision: 0, maxTicksLimit: 5 } };
  return new Curves(canvas, { view, playhead, legend, compute, exact, format: (v) => number(v, 0), y, hidden: OVER });
}
