// States of a job in groups over time: profiling, moving, running, suspended; from its memberships.

import { stripes } from '../../../util/colors.js';
import { clock, duration, number, percent, plural } from '../../../util/format.js';
import { lowerBound } from '../../../util/binary-search.js';
import { NEVER, validAt } from '../../../core/columns/bars.js';
import { MembershipIndex, goesOn, membershipStates } from '../../../core/memberships.js';
import { LEVEL, Layer } from '../layer.js';

const LABEL_PX = 11;

/**
 * [{state, from, until (-1 = open), data of `grouped`, place of the job in it}, ...] of a job, in order, with suspended
 * ones, whose data is null. of: the memberships of the job. Neighbours in one group on the same servers are merged.
 */
export function stretchesOf(of) {
  const found = [];
  for (const membership of of) {
    const { segment, place } = membership;
    const [, , data] = segment;
    for (const [state, from, until] of membershipStates(membership)) {
      const last = found.at(-1);
      if (last && last.until !== from) found.push(suspended(last.until, from));
      else if (last?.state === state && goesOn(last.data, membership)) {
        Object.assign(last, { until, data, place });
        continue;
      }
      found.push({ state, from, until, data, place });
    }
  }
  return found;
}

const suspended = (from, until) => ({ state: 'suspended', from, until, data: null, place: -1 });

export class JobStates extends Layer {
  constructor(store, info) {
    super('job-states', LEVEL.MARKS);
    this.store = store;
    this.info = info;
    this.memberships = new MembershipIndex(store);
    this.made = new Map();
  }

  /** The states of a job. */
  of(job) {
    const { lastSeq, generation } = this.store;
    const known = this.made.get(job);
    if (known?.seq === lastSeq && known.generation === generation) return known.list;
    const list = stretchesOf(this.memberships.of(job));
    this.made.set(job, { seq: lastSeq, generation, list });
    return list;
  }

  /**
   * The state at a time, as known at p; undefined outside. After the last one, a job that is not completed is
   * suspended.
   */
  at(job, ms, p = Infinity) {
    const list = this.of(job);
    const found = list.find(({ from, until }) => from <= ms && (until === NEVER || ms < until) && from <= p);
    if (found || !list.length) return found;
    const end = list.at(-1).until;
    const done = this.store.jobs.completed_ms[job];
    return end !== NEVER && end <= ms && (done === NEVER || done > ms) && list[0].from <= ms
      ? suspended(end, NEVER)
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
    const { state, from, until, data, place } = stretch;
    const lines = [
      [
        ms > p ? `planned; ${state}` : state,
        `since ${clock(from)}${until === NEVER || until > p ? '' : ` until ${clock(until)}`}`,
      ],
    ];
    if (!data) return lines;
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

  /** The states of a job; its servers are those of its group, of which the table has the number. */
  table(row, frame) {
    if (!this.owns(row)) return [];
    const { view } = frame;
    const p = frame.playhead.ms;
    return this.of(row.index)
      .filter(({ from, until }) => from < view.to && from <= p && (until === NEVER || until > view.from))
      .map(({ state, from, until, data }) => [
        frame.jobName(row.index),
        data ? `${state} in group ${data.group}` : state,
        '–',
        data ? data.machines : 0,
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
    for (const { state, from, until, data } of list) {
      if (from > p || from >= view.to) break;
      const end = until === NEVER || until > p ? p : until;
      if (end <= view.from) continue;
      if (state === 'suspended') this.#pause(ctx, from, end, y + rowPx / 2, area, c, xOf);
      else if (state === 'running') {
        const drawn = rect(from, end, color);
        if (drawn) label(ctx, drawn, top, height, data, ink, area);
      } else if (state === 'moving') rect(from, end, stripes(ctx, color));
      else rect(from, end, dots(ctx, color, c.panel));
    }
    const open = this.at(job, p, p);
    if (open?.state === 'suspended' && open.until === NEVER && !this.store.finished)
      this.#pause(ctx, open.from, p, y + rowPx / 2, area, c, xOf);
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
