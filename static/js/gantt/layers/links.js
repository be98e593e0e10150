// Arrows from the bar at which a job was suspended to the bar at which it resumes, on demand.

import { WORKER } from '../../core/columns/bars.js';
import { spansOf } from '../../core/job-spans.js';
import { LEVEL, Layer } from './layer.js';

const MAX_LINKS = 400;
const HEAD_PX = 4;

export class Links extends Layer {
  constructor(store) {
    super('links', LEVEL.EVENTS);
    this.store = store;
    this.on = false;
    this.drawn = 0;
  }

  paint(ctx, frame) {
    this.drawn = 0;
    if (!this.on) return;
    ctx.strokeStyle = ctx.fillStyle = frame.c.ink;
    ctx.lineWidth = 1;
    for (const [job, ends] of this.#ends(frame)) {
      const list = spansOf(this.store, frame.p).of(job);
      for (let i = 1; i < list.length && this.drawn < MAX_LINKS; i++) {
        const [from, to] = [ends.get(`e${list[i - 1].until}`), ends.get(`s${list[i].begin}`)];
        if (!from || !to) continue;
        arrow(ctx, from, to);
        this.drawn++;
      }
    }
  }

  /** job -> points at which its visible bars begin ('s' and the time) and end ('e'); of jobs that are not dimmed. */
  #ends(frame) {
    const { bars } = this.store;
    const found = new Map();
    for (const each of frame.views) {
      if (each.how !== 'bars') continue;
      frame.eachBar(each, (bar, subRow, x, right) => {
        const job = bars.job[bar];
        if (bars.role[bar] !== WORKER || frame.dims(job)) return;
        const y = each.y + (subRow + 0.5) * each.subRowPx;
        if (!found.has(job)) found.set(job, new Map());
        found.get(job).set(`s${bars.start_ms[bar]}`, [x, y]);
        found.get(job).set(`e${bars.end_ms[bar]}`, [right, y]);
      });
    }
    return found;
  }
}

function arrow(ctx, [x0, y0], [x1, y1]) {
  const bend = Math.max(12, (x1 - x0) / 2);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - HEAD_PX * 1.6, y1 - HEAD_PX);
  ctx.lineTo(x1 - HEAD_PX * 1.6, y1 + HEAD_PX);
  ctx.fill();
}
