// Regroupings: a tick above the rows of the schedule, with utilization before and after in the tooltip.

import { clock, number, percent } from '../../../util/format.js';
import { LEVEL, Layer } from '../layer.js';

const TICK_PX = 7; // of the space above the rows
const MIN_GAP_PX = 2; // ticks nearer to each other would be one bar
const NEAR_PX = 3;
const CAUSES = { machines: 'a change of machines', arrival: 'an arrival' };

export class Regroupings extends Layer {
  constructor(store) {
    super('regroupings', LEVEL.EVENTS);
    this.store = store;
  }

  paintAbove(ctx, frame) {
    const { area } = frame;
    ctx.fillStyle = frame.c.ink;
    let last = -Infinity;
    for (const [atMs] of this.store.regroupings) {
      const x = Math.round(frame.xOf(atMs));
      if (atMs > frame.p || x > area.right) break;
      if (x < area.left || x - last < MIN_GAP_PX) continue;
      last = x;
      ctx.fillRect(x, area.top - TICK_PX, 1, TICK_PX);
    }
  }

  hit(x, y, frame) {
    const { left, right, top } = frame.area;
    if (x < left || x > right || y > top + NEAR_PX) return null;
    const near = ([atMs]) => atMs <= frame.p && Math.abs(frame.xOf(atMs) - x) <= NEAR_PX;
    const found = this.store.regroupings.filter(near);
    return found.length ? { found, alone: true } : null;
  }

  describe({ found }) {
    const [atMs, , cause, [cpu, net], [newCpu, newNet]] = found.at(-1);
    const lines = [
      [`Regrouped after ${CAUSES[cause] ?? `a ${cause}`}`, clock(atMs)],
      ['CPU', `${percent(cpu)} → ${percent(newCpu)}`],
      ['network', `${percent(net)} → ${percent(newNet)}`],
    ];
    if (found.length > 1) lines.push(['', `and ${number(found.length - 1, 0)} more at this position`]);
    return lines;
  }
}
