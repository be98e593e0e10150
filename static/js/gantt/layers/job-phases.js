// Phases of a job in groups over time: profiling, moving, running, suspended; folded from the groups of the store.

import { stripes } from '../../util/colors.js';
import { clock, duration, number, percent, plural } from '../../util/format.js';
import { lowerBound } from '../../util/binary-search.js';
import { NEVER, validAt } from '../../core/bars.js';
import { LEVEL, Layer } from './layer.js';

const LABEL_PX = 11;
const FROM = 1;
const UNTIL = 2;

/**
 * [[state, from, until (-1 = open), segment, index of the job in it], ...] of a job, in order.
 * segments: the job's entries of store.groups. Neighbours that differ only in ratios on disk are merged.
 */
export function stretchesOf(job, segments) {
  const found = [];
  for (const segment of segments) {
    const [from, until, data] = segment;
    const place = data.jobs.indexOf(job);
    const ready = data.ready_ms[place];
    const doing = data.profiling[place] ? 'profiling' : 'running';
    const cut = until === NEVER ? ready : Math.min(ready, until);
    const parts =
      ready > from ? [['moving', from, cut], ...(cut === until ? [] : [[doing, cut, until]])] : [[doing, from, until]];
    for (const [state, begin, end] of parts) {
      const last = found.at(-1);
      if (last && last[UNTIL] !== begin) found.push(['suspended', last[UNTIL], begin, null, -1]);
      else if (last && last[0] === state && last[3][2].group === data.group && last[3][2].machines === data.machines) {
        last[UNTIL] = end;
        last[3] = segment;
        last[4] = place;
        continue;
      }
      found.push([state, begin, end, segment, place]);
    }
  }
  return found;
}

export class JobPhases extends Layer {
  constructor(store, info) {
    super('job-phases', LEVEL.MARKS);
    this.store = store;
    this.info = info;
    this.segments = new Map();
    this.made = new Map();
    this.seen = 0;
  }

  /** The phases of a job. */
  of(job) {
    this.#index();
    const { lastSeq } = this.store;
    const known = this.made.get(job);
    if (known?.seq === lastSeq) return known.list;
    const list = stretchesOf(
      job,
      (this.segments.get(job) ?? []).map((place) => this.store.groups[place]),
    );
    this.made.set(job, { seq: lastSeq, list });
    return list;
  }

  /**
   * The phase at a time, as known at p; undefined outside. After the last one, a job that is not completed is
   * suspended.
   */
  at(job, ms, p = Infinity) {
    const list = this.of(job);
    const found = list.find(([, from, until]) => from <= ms && (until === NEVER || ms < until) && from <= p);
    if (found || !list.length) return found;
    const end = list.at(-1)[UNTIL];
    const done = this.store.jobs.completed_ms[job];
    return end !== NEVER && end <= ms && (done === NEVER || done > ms) && list[0][FROM] <= ms
      ? ['suspended', end, NEVER, null, -1]
      : undefined;
  }

  /** Rows of jobs that ran in groups, whose work has no bars. */
  owns(row) {
    return row.kind === 'job' && this.store.groups.length > 0;
  }

  paint(ctx, frame) {
    for (const each of frame.views) if (each.how === 'owned' && this.owns(each.row)) this.#row(ctx, frame, each);
  }

  hit(x, y, frame) {
    const point = frame.at(x, y);
    if (!point || !this.owns(point.row)) return null;
    const stretch = this.at(point.row.index, point.t, frame.p);
    return stretch ? { stretch, ms: point.t, job: point.row.index } : null;
  }

  describe({ stretch, ms }, { p }) {
    const [state, from, until, segment, place] = stretch;
    const lines = [
      [
        ms > p ? `planned; ${state}` : state,
        `since ${clock(from)}${until === NEVER || until > p ? '' : ` until ${clock(until)}`}`,
      ],
    ];
    if (!segment) return lines;
    const data = segment[2];
    lines.push([`group ${data.group}`, `${plural(data.machines, 'machine')}, ${plural(data.jobs.length, 'job')}`]);
    lines.push(
      ['iteration', duration(data.pace_ms[place])],
      ['per iteration', `${duration(data.comp_ms[place])} computation, ${duration(data.comm_ms[place])} communication`],
    );
    lines.push([
      'on disk',
      `${percent(data.disk_ratios[place])} of the ` +
        `input${data.model_disk_ratios[place] ? `, ${percent(data.model_disk_ratios[place])} of the model` : ''}`,
    ]);
    lines.push(
      ['in memory', `${number(data.memory_gb[place], 1)} GB per machine`],
      ['group memory', `${percent(data.memory_used)} of the usable memory`],
    );
    return lines;
  }

  /** The phases of a job; its servers are those of its group, of which the table has the number. */
  table(row, frame) {
    if (!this.owns(row)) return [];
    const { view } = frame;
    const p = frame.playhead.ms;
    return this.of(row.index)
      .filter(([, from, until]) => from < view.to && from <= p && (until === NEVER || until > view.from))
      .map(([state, from, until, segment]) => [
        frame.jobName(row.index),
        segment ? `${state} in group ${segment[2].group}` : state,
        '–',
        segment ? segment[2].machines : 0,
        clock(from),
        until === NEVER || until > p ? '' : clock(until),
      ]);
  }

  /** The row of a job: its past, and its plan after the time shown. */
  #row(ctx, frame, { row, y }) {
    const { area, rowPx, view, p, selected, c } = frame;
    const own = frame.paint(row.index, c);
    const xOf = (ms) => frame.xOf(ms);
    const job = row.index;
    const top = y + (rowPx > 8 ? 1 : 0.5);
    const height = Math.max(1, rowPx - (rowPx > 8 ? 2 : 1));
    const [color, ink] = selected !== null && selected !== job ? [c.line, c.muted] : own;
    const rect = (from, until, fill, part = 1) => {
      const x = Math.max(area.left - 2, xOf(from));
      const right = Math.min(area.right + 2, xOf(until));
      if (right <= x) return null;
      ctx.fillStyle = fill;
      const thick = Math.max(1, height * part);
      ctx.fillRect(x, top + (height - thick) / 2, Math.max(1, right - x), thick);
      return [x, right];
    };
    const list = this.of(job);
    for (const [state, from, until, segment] of list) {
      if (from > p || from >= view.to) break;
      const end = until === NEVER || until > p ? p : until;
      if (end <= view.from) continue;
      if (state === 'suspended') this.#pause(ctx, from, end, y + rowPx / 2, area, c, xOf);
      else if (state === 'running') {
        const drawn = rect(from, end, color);
        if (drawn) label(ctx, drawn, top, height, segment[2], ink, area);
      } else if (state === 'moving') rect(from, end, stripes(ctx, color));
      else rect(from, end, dots(ctx, color, c.panel));
    }
    const open = this.at(job, p, p);
    if (open?.[0] === 'suspended' && open[UNTIL] === NEVER && !this.store.finished)
      this.#pause(ctx, open[FROM], p, y + rowPx / 2, area, c, xOf);
    this.#planned(row, view, p, (from, until) => rect(from, until, color));
  }

  #pause(ctx, from, until, y, area, c, xOf) {
    const x = Math.max(area.left, xOf(from));
    const right = Math.min(area.right, xOf(until));
    if (right <= x) return;
    ctx.fillStyle = c.warn;
    for (let at = x; at < right; at += 6) ctx.fillRect(at, y - 1, Math.min(3, right - at), 2);
  }

  #planned(row, view, p, draw) {
    const { bars } = this.store;
    const high = lowerBound(row.length, view.to, (i) => bars.start_ms[row.sorted[i]]);
    for (let i = 0; i < high; i++) {
      const bar = row.sorted[i];
      if (bars.end_ms[bar] > p && validAt(bars, bar, p)) draw(Math.max(p, bars.start_ms[bar]), bars.end_ms[bar]);
    }
  }

  #index() {
    const { store } = this;
    if (this.generation !== store.generation) {
      this.generation = store.generation;
      this.segments.clear();
      this.made.clear();
      this.seen = 0;
    }
    for (; this.seen < store.groups.length; this.seen++) {
      for (const job of store.groups[this.seen][2].jobs) {
        if (!this.segments.has(job)) this.segments.set(job, []);
        this.segments.get(job).push(this.seen);
      }
    }
  }
}

const patterns = new Map();

/** Dots in `color`: the mark of a job that is profiled. */
function dots(ctx, color, panel) {
  const key = `${color}/${panel}`;
  if (!patterns.has(key)) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 5;
    const c = tile.getContext('2d');
    c.fillStyle = panel;
    c.fillRect(0, 0, 5, 5);
    c.globalAlpha = 0.25;
    c.fillStyle = color;
    c.fillRect(0, 0, 5, 5);
    c.globalAlpha = 1;
    c.fillRect(1, 1, 2, 2);
    patterns.set(key, ctx.createPattern(tile, 'repeat'));
  }
  return patterns.get(key);
}

function label(ctx, /** @type {any} */ [x, right], top, height, data, ink, area) {
  const left = Math.max(x, area.left);
  if (height < LABEL_PX || right - left < 30) return;
  ctx.font = `${LABEL_PX}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textBaseline = 'middle';
  ctx.fillStyle = ink;
  const text = [
    `group ${data.group} × ${plural(data.machines, 'machine')}`,
    `group ${data.group} × ${data.machines}`,
    `${data.group} × ${data.machines}`,
  ].find((each) => ctx.measureText(each).width < right - left - 8);
  if (text) ctx.fillText(text, left + 4, top + height / 2 + 0.5);
}
