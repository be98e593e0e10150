// Marks in rows of jobs: the wait as a thin line, a rejection as a cross at its time.

import { NEVER } from '../../core/columns/bars.js';
import { rejectionBy } from '../../core/job-state.js';
import { LEVEL, Layer } from './layer.js';

export class JobMarks extends Layer {
  constructor(store) {
    super('job-marks', LEVEL.MARKS);
    this.store = store;
  }

  paint(ctx, frame) {
    if (frame.detail !== 'bars') return;
    for (const { row, y } of frame.views) if (row.kind === 'job') this.#row(ctx, frame, row, y);
  }

  #row(ctx, frame, row, y) {
    const { p, c, rowPx } = frame;
    const { jobs } = this.store;
    const arrived = jobs.arrived_ms[row.index];
    if (arrived === NEVER || arrived > p) return;
    const rejected = rejectionBy(jobs, row.index, p);
    const end = rejected ?? p;
    const start = jobs.start_ms[row.index];
    const [x, until] = [frame.xOf(arrived), frame.xOf(start === NEVER ? end : Math.min(start, end))];
    ctx.fillStyle = rejected === null ? c.muted : c.bad;
    ctx.fillRect(x, y + rowPx / 2 - 0.5, Math.max(1, until - x), 1);
    ctx.fillRect(x, y + 1, 1, rowPx - 2);
    if (rejected !== null) cross(ctx, frame.xOf(rejected), y + rowPx / 2, Math.min(4, rowPx / 3), c.bad);
  }

  /** A hit anywhere in the row names its job. */
  hit(x, y, frame) {
    const point = frame.at(x, y);
    return point?.row.kind === 'job' ? { job: point.row.index } : null;
  }
}

function cross(ctx, x, y, size, color) {
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  for (const sign of [-1, 1]) {
    ctx.moveTo(x - size, y - sign * size);
    ctx.lineTo(x + size, y + sign * size);
  }
  ctx.stroke();
}
