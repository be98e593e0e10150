// Distribution of the completion times of a run's jobs.

import { Tip, tipElement } from '../ui/tooltip.js';
import { NEVER } from '../core/columns/bars.js';
import { Spread, spreadTable } from './cdf.js';

const STEPS = 100; // of the quantiles

export class JctSpread {
  /** metric: the completion time in the table of metrics. */
  constructor(plot, metric) {
    this.metric = metric;
    const tip = new Tip(tipElement());
    this.spread = new Spread(plot, tip, { ...metric, of: 'of completed jobs' }, ['jobs']);
    this.curve = { jobs: 0, values: [] };
  }

  /** Takes the completed jobs of the store. */
  paint({ jobs }) {
    const times = [];
    for (let job = 0; job < jobs.length; job++)
      if (jobs.completed_ms[job] !== NEVER) times.push(jobs.completed_ms[job] - jobs.arrived_ms[job]);
    if (times.length === this.curve.jobs && times.length) return;
    const sorted = Float64Array.from(times).sort();
    const values = sorted.length ? Array.from({ length: STEPS + 1 }, (_, i) => quantile(sorted, i / STEPS)) : [];
    this.curve = { jobs: sorted.length, values };
    this.spread.paint([this.curve]);
  }

  table() {
    return spreadTable([{ ...this.metric, curves: [this.curve] }], ['this run']);
  }
}

/** Linear between the two nearest of sorted values. */
function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}
