// When groups were made anew: a tick at the top of the schedule, with utilization before and after in the tooltip.

import { clock, percent } from '../lib/format.js';

const TICK_PX = 7;
const NEAR_PX = 3;

/** regroupings: the store's [atMs, site, cause, before, after], in order of time. */
export function paintRegroupings(ctx, regroupings, { area, xOf, p, c }) {
  ctx.fillStyle = c.ink;
  let last = -Infinity;
  for (const [atMs] of regroupings) {
    const x = Math.round(xOf(atMs));
    if (atMs > p || x > area.right) break;
    if (x < area.left || x === last) continue;
    last = x;
    ctx.fillRect(x, area.top, 1, TICK_PX);
  }
}

/** Lines of a tooltip at x and y px below the top; none where no tick is near. */
export function describeRegrouping(regroupings, x, y, { xOf, p }) {
  if (y < 0 || y > TICK_PX + NEAR_PX) return [];
  const near = regroupings.filter(([atMs]) => atMs <= p && Math.abs(xOf(atMs) - x) <= NEAR_PX);
  if (!near.length) return [];
  const [atMs, , cause, [cpu, net], [newCpu, newNet]] = near.at(-1);
  const lines = [[`Regrouped after ${cause === 'machines' ? 'a change of machines' : `${cause === 'arrival' ? 'an' : 'a'} ${cause}`}`, clock(atMs)],
    ['CPU used', `${percent(cpu)} → ${percent(newCpu)}`], ['network used', `${percent(net)} → ${percent(newNet)}`]];
  if (near.length > 1) lines.push(['', `and ${near.length - 1} more here`]);
  return lines;
}
