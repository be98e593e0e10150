// Number of jobs by size: in GPUs, or in workers where the trace has no GPUs.

import { capital, number, percent } from '../../util/format.js';
import { histogram } from '../parts/bar-chart.js';

export class Sizes {
  /** scanned: [[size, jobs], ...] by size; unit: 'GPU' or 'worker' */
  constructor(canvas, tip, scanned, unit) {
    this.scanned = scanned;
    this.unit = unit;
    this.total = scanned.reduce((sum, [, jobs]) => sum + jobs, 0);
    this.chart = histogram(canvas, tip, {
      data: scanned.map(([, jobs]) => jobs),
      labels: scanned.map(([size]) => number(size, 3)),
      yTitle: 'jobs',
      describe: (i) => [
        [`${number(scanned[i][0], 3)} ${unit}${scanned[i][0] === 1 ? '' : 's'}`, ''],
        ['jobs', `${number(scanned[i][1], 0)}, ${this.#share(i)}`],
      ],
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
    const rows = this.scanned.map(([size, jobs], i) => [number(size, 3), number(jobs, 0), this.#share(i)]);
    return { head: [capital(`${this.unit}s`), 'Jobs', 'Share'], rows, total: rows.length };
  }

  destroy() {
    this.chart.destroy();
  }

  #share(i) {
    return percent(this.scanned[i][1] / this.total, 1);
  }
}
