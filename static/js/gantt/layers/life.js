// The whole life of each selected job: from its arrival to its end, over all rows, with its name and its segments.

import { NEVER } from '../../core/columns/bars.js';
import { spansOf } from '../../core/job-spans.js';
import { clock, duration } from '../../util/format.js';
import { LEVEL, Layer } from './layer.js';

const SUB_ROW_PX = 7;
const TAG_PX = 14; // height of the tags of the present and of edits, below which the name stands
const NAME_PX = 15; // height of the name
const MAX_LIVES = 6; // drawn at the same time

/**
 * [from, to] of a job as known at p: its arrival, and its completion or rejection, or else its planned finish. The
 * store has only the newest plan, so before the newest event an open job ends at p.
 *
 * @returns {[number, number] | null}
 */
export function lifeOf({ jobs, simMs }, job, p) {
  const arrived = jobs.arrived_ms[job];
  if (job >= jobs.length || arrived === NEVER || arrived > p) return null;
  const ends = [jobs.completed_ms[job], jobs.rejected_ms[job]].filter((ms) => ms !== NEVER && ms <= p);
  const end = ends.length ? Math.min(...ends) : p < simMs ? p : Math.max(p, jobs.finish_ms[job]);
  return [arrived, Math.max(arrived, end)];
}

export class Life extends Layer {
  constructor(store) {
    super('life', LEVEL.EVENTS);
    this.store = store;
  }

  paint(ctx, frame) {
    if (frame.selected === null) return;
    [frame.selected, ...frame.also].slice(0, MAX_LIVES).forEach((job, i) => this.#one(ctx, frame, job, i));
  }

  #one(ctx, frame, job, place) {
    const life = lifeOf(this.store, job, frame.p);
    const span = life && frame.spanOf(life[0], Math.max(life[1], life[0] + 1));
    if (!span) return;
    const { area, c } = frame;
    const [x, right] = span;
    const y = area.top + place * SUB_ROW_PX;
    const [color] = frame.paint(job, c);
    ctx.fillStyle = c.muted;
    ctx.fillRect(x, y + SUB_ROW_PX / 2 - 1, right - x, 1);
    ctx.fillStyle = color;
    for (const { begin, until, state } of spansOf(this.store, frame.p).of(job)) {
      if (state === 'suspended') continue;
      const run = frame.spanOf(begin, Math.min(until, life[1]));
      if (run) ctx.fillRect(run[0], y + 1, Math.max(2, run[1] - run[0]), SUB_ROW_PX - 3);
    }
    if (place) return;
    ctx.strokeStyle = c.ink;
    ctx.lineWidth = 1;
    ctx.setLineDash([2, 3]);
    ctx.beginPath();
    for (const ms of life) {
      const at = Math.round(frame.xOf(ms)) + 0.5;
      ctx.moveTo(at, area.top);
      ctx.lineTo(at, area.bottom);
    }
    ctx.stroke();
    ctx.setLineDash([]);
    this.#name(ctx, frame, job, life, x);
  }

  #name(ctx, frame, job, [from, to], x) {
    const { area, c } = frame;
    const lives = 1 + Math.min(frame.also.size, MAX_LIVES - 1);
    const open = to === frame.p && frame.p < this.store.simMs;
    // no length if it was rejected at once, has just arrived, or had not ended at the time shown
    const length = to > from ? (open ? '' : ` to ${clock(to)}, ${duration(to - from)}`) : '';
    const text = `${frame.jobName(job)}: ${open ? 'since ' : ''}${clock(from)}${length}`;
    ctx.font = `600 11px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textBaseline = 'middle';
    const width = ctx.measureText(text).width + 10;
    const left = Math.max(area.left, Math.min(x, area.right - width));
    const top = area.top + Math.max(lives * SUB_ROW_PX, TAG_PX);
    const y = freeBelow(top, left, left + width, frame.texts);
    ctx.fillStyle = c.panel;
    ctx.fillRect(left, y, width, NAME_PX);
    ctx.fillStyle = c.ink;
    ctx.fillText(text, left + 5, y + 8);
  }
}

/** The first y from `top` on at which a name between left and right covers none of the texts [x, y, width, height]. */
function freeBelow(top, left, right, texts) {
  const beside = texts.filter(([x, , width]) => x < right && x + width > left).sort((a, b) => a[1] - b[1]);
  return beside.reduce((y, [, at, , height]) => (at < y + NAME_PX && at + height > y ? at + height : y), top);
}
