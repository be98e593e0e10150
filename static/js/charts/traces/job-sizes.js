// Number of jobs by size: in GPUs, or in workers where the trace has no GPUs.

import { capital, number, percent } from '../../util/format.js';
import { histogram } from '../parts/bar-chart.js';

export class Sizes {
  /** scanned: [[size, jobs], ...] by size; unit: 'GPU' or 'worker' */
  constructor(canvas, tip, scanned, unit) {
    this.sizes = scanned.map(([size, jobs]) => ({ size, jobs }));
    this.unit = unit;
    this.total = this.sizes.reduce((sum, { jobs }) => sum + jobs, 0);
    this.chart = histogram(canvas, tip, {
      data: this.sizes.map(({ jobs }) => jobs),
      labels: this.sizes.map(({ size }) => number(size, 3)),
      yTitle: 'jobs',
      describe: (i) => {
        const { size, jobs } = this.sizes[i];
        return [
          [`${number(size, 3)} ${unit}${size === 1 ? '' : 's'}`, ''],
          ['jobs', `${number(jobs, 0)}, ${this.#share(jobs)}`],
        ];
      },
      x: { title: { display: true, text: `${unit}s of a job` }, ticks: { maxRotation: 0, autoSkipPadding: 8 } },
    });
  }

  /** A log axis shows the rare sizes beside the common one. */
  setLog(on) {
    const { y } = this.chart.options.scales;
    this.chart.options.scales.y = {
      ...y,
      type: on ? 'logarithmic' : 'linear',
      beginAtZero: !on,
      min: on ? 0.5 : undefined,
    };
    this.chart.update('none');
  }

  table() {
    const rows = this.sizes.map(({ size, jobs }) => [number(size, 3), number(jobs, 0), this.#share(jobs)]);
    return { head: [capital(`${this.unit}s`), 'Jobs', 'Share'], rows, total: rows.length };
  }

  destroy() {
    this.chart.destroy();
  }

  #share(jobs) {
    return percent(jobs / this.total, 1);
  }
}
