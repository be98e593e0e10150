// Groups of co-located jobs as bands over the machines that they hold; zoomed in, the subtasks of their jobs in two
// tracks; zoomed out so far that most bands are narrow, the utilization of each machine.

import { get } from '../../../core/api.js';
import { stripes } from '../../../util/colors.js';
import { clock, duration, number, percent, plural } from '../../../util/format.js';
import { NEVER } from '../../../core/columns/bars.js';
import { memberships, stays } from '../../../core/memberships.js';
import { PagePart } from '../../../ui/failures/page-part.js';
import { LEVEL, Layer } from '../layer.js';
import { GroupDensity, mostAreNarrow } from './group-density.js';

const COMP = 1;
const SUBTASK_PX = 24; // an iteration this wide shows its subtasks
const MAX_WINDOWS = 60; // cached answers
const AGAIN_MS = 2000; // after a failure
const LABEL_PX = 11;
const CAUSES = {
  cpu: 'limited by the computation of all its jobs',
  net: 'limited by the communication of all its jobs',
  job: 'limited by one job, which alternates computation and communication',
};

export class GroupBands extends Layer {
  /** onData() is called when subtasks have arrived; inCharge(ms): whether jobs run in groups at that time. */
  constructor(store, info, onData, inCharge) {
    super('group-bands', LEVEL.GROUPS);
    this.store = store;
    this.info = info;
    this.onData = onData;
    this.inCharge = inCharge;
    this.bands = []; // indexes in store.groups of a group with the same servers and jobs, in order
    this.byServer = new Map(); // server -> bands, in order
    this.newest = new Map(); // group -> its newest band
    this.seen = 0;
    this.density = new GroupDensity();
    this.shaded = 0; // groups in view, if the rows are shaded because most of them are narrow
    this.part = new PagePart('subtasks of the groups');
    this.windows = new Map(); // of subtasks: key -> answer, or null while it is loading
  }

  /** The group record of a server at a time: [from, until, data], or undefined. */
  at(server, ms) {
    this.#index();
    for (const band of this.byServer.get(server) ?? []) {
      const place = this.bands[band].find((i) => covers(this.store.groups[i], ms));
      if (place !== undefined) return this.store.groups[place];
    }
    return undefined;
  }

  get signature() {
    return String(this.shaded);
  }

  paint(ctx, frame) {
    this.shaded = 0;
    if (frame.rows.order !== 'servers' || !this.store.groups.length) return;
    this.#index();
    const drawn = [...this.#drawn(frame)];
    const widths = new Map(drawn.map(({ band, x, right }) => [band, right - x]));
    if (mostAreNarrow([...widths.values()])) {
      this.shaded = widths.size;
      this.density.paint(ctx, frame, (server) => this.#segments(server, frame));
    } else for (const each of drawn) this.#band(ctx, frame, each);
  }

  /** {band, first, count, x, right} of each block of neighbouring rows in a band. */
  *#drawn(frame) {
    const { views, view, p } = frame;
    for (const [band, first, count] of this.#runs(views, view, p)) {
      const [from, until] = this.#span(band);
      // its end is not known at p
      const span = frame.spanOf(from, until === NEVER || until > p ? Math.max(p, from) : until);
      if (!span) continue;
      const [x, right] = span;
      yield { band, first, count, x, right };
    }
  }

  /** The group records of a server in view, without those that are dimmed. */
  *#segments(server, frame) {
    const { view, p } = frame;
    for (const band of this.byServer.get(server) ?? []) {
      const [begin, end] = this.#span(band);
      if (begin >= view.to || begin > p || (end !== NEVER && end <= view.from)) continue;
      for (const place of this.bands[band]) {
        const [from, until, data] = this.store.groups[place];
        if (from <= p && !dims(frame, data)) yield [from, until, data];
      }
    }
  }

  #band(ctx, frame, { band, first, count, x, right }) {
    const { area, y0, rowPx, view, p, pxPerMs, selected, c } = frame;
    const data = this.#dataAt(band, p);
    const rect = {
      x,
      y: y0 + first * rowPx,
      width: Math.max(1, right - x - 1),
      height: Math.max(1, count * rowPx - 1),
    };
    const color = c.jobs[data.group % c.jobs.length];
    ctx.globalAlpha = dims(frame, data) ? 0.12 : 0.3;
    ctx.fillStyle = color;
    ctx.fillRect(rect.x, rect.y, rect.width, rect.height);
    ctx.globalAlpha = 1;
    ctx.fillRect(rect.x, rect.y, 2, rect.height);
    const detailed = data.iteration_ms !== null && data.iteration_ms * pxPerMs >= SUBTASK_PX && rect.height >= 16;
    if (detailed) this.#detail(ctx, rect, band, view, pxPerMs, area, selected, c);
    else frame.texts.push(...label(ctx, rect, this.title(data), c.ink));
  }

  title(data) {
    return (
      `group ${data.group}: ${plural(data.jobs.length, 'job')} × ` +
      `${plural(data.machines, 'machine')}, CPU ${percent(data.cpu_utilization)}, network ` +
      `${percent(data.net_utilization)}`
    );
  }

  /**
   * The group of the row's server at the time under the pointer; without a group, a hit without a segment. Null after
   * the time shown, and while no scheduler of groups is in charge.
   */
  hit(x, y, frame) {
    const point = frame.at(x, y);
    if (point?.row.kind !== 'server' || point.t > frame.p) return null;
    const segment = this.at(point.row.index, point.t);
    if (segment) {
      const [, , { jobs }] = segment;
      return { segment, ms: point.t, p: frame.p, job: jobs[0] ?? null };
    }
    return this.inCharge(point.t) ? { ms: point.t, job: null } : null;
  }

  describe({ segment, ms, p }) {
    if (!segment) return [['', 'in no group']];
    const [from, end, data] = segment;
    const until = end <= p ? end : NEVER; // a later end was not known yet
    const lines = [
      [
        `group ${data.group}`,
        `${plural(data.machines, 'machine')}, since ${clock(from)}${until === NEVER ? '' : ` until ${clock(until)}`}`,
      ],
      [
        'utilization (Harmony, Eq. 3)',
        `CPU ${percent(data.cpu_utilization)}, network ${percent(data.net_utilization)}`,
      ],
    ];
    lines.push(['memory', `${percent(data.memory_used)} of the usable memory`]);
    if (data.iteration_ms !== null)
      lines.push(['iteration time (Harmony, Eq. 1)', duration(data.iteration_ms)], ['', CAUSES[data.bound] ?? '']);
    data.jobs.slice(0, 8).forEach((job, i) => {
      const moving = data.ready_ms?.[i] > ms ? `, moving until ${clock(data.ready_ms[i])}` : '';
      lines.push([
        this.info.ids[job] ?? `job ${job}`,
        `computation ${duration(data.comp_ms[i])}, communication ${duration(data.comm_ms[i])}; ` +
          `${percent(data.disk_ratios[i])} on disk, ${number(data.memory_gb[i], 1)} ` +
          `GB${data.profiling[i] ? ', profiling' : ''}${moving}`,
        job,
      ]);
    });
    if (data.jobs.length > 8) lines.push(['', `and ${plural(data.jobs.length - 8, 'more job')}`]);
    return lines;
  }

  /** The stays of jobs in the groups on a server; each of them has one worker there. */
  table(row, frame) {
    if (row.kind !== 'server') return [];
    const { view } = frame;
    const own = this.store.groups.filter(([, , { servers }]) => servers.includes(row.index));
    return stays(memberships(own, frame.playhead.ms))
      .filter(({ from, until }) => from < view.to && (until === NEVER || until > view.from))
      .map(({ job, group, from, until }) => [
        frame.jobName(job),
        `worker in group ${group}`,
        frame.serverName(row.index),
        1,
        clock(from),
        until === NEVER ? '' : clock(until),
      ]);
  }

  #index() {
    const { groups } = this.store;
    if (this.generation !== this.store.generation) {
      this.generation = this.store.generation;
      this.byServer.clear();
      this.newest.clear();
      this.windows.clear();
      this.bands = [];
      this.seen = 0;
    }
    for (; this.seen < groups.length; this.seen++) {
      const [from, , data] = groups[this.seen];
      const before = this.newest.get(data.group);
      const [, end, last] = before === undefined ? [] : groups[this.bands[before].at(-1)];
      if (end === from && same(last.servers, data.servers) && same(last.jobs, data.jobs)) {
        this.bands[before].push(this.seen);
        continue;
      }
      this.newest.set(data.group, this.bands.length);
      for (const server of data.servers) {
        if (!this.byServer.has(server)) this.byServer.set(server, []);
        this.byServer.get(server).push(this.bands.length);
      }
      this.bands.push([this.seen]);
    }
  }

  /** [from, until] of a band. */
  #span(band) {
    const places = this.bands[band];
    const [from] = this.store.groups[places[0]];
    const [, until] = this.store.groups[places.at(-1)];
    return [from, until];
  }

  /** The newest record of a band's group up to a moment. */
  #dataAt(band, ms) {
    const places = this.bands[band];
    const begun = ([from]) => from <= ms;
    const place = places.findLast((i) => begun(this.store.groups[i])) ?? places[0];
    const [, , data] = this.store.groups[place];
    return data;
  }

  /** [band, first row, rows]: neighbours in the same band are painted as one. */
  *#runs(views, view, p) {
    let open = new Map(); // band -> first row
    for (let i = 0; i <= views.length; i++) {
      const row = views[i]?.row;
      const here = new Set();
      for (const band of (row?.kind === 'server' && this.byServer.get(row.index)) || []) {
        const [from, until] = this.#span(band);
        if (from < view.to && from <= p && (until === NEVER || until > view.from)) here.add(band);
      }
      const next = new Map();
      for (const band of here) next.set(band, open.get(band) ?? i);
      for (const [band, first] of open) if (!here.has(band)) yield [band, first, i - first];
      open = next;
    }
  }

  #detail(ctx, rect, band, view, pxPerMs, area, selected, c) {
    for (const place of this.bands[band]) {
      const [from, until] = this.store.groups[place];
      if (from < view.to && (until === NEVER || until > view.from))
        this.#subtasks(ctx, rect, place, view, pxPerMs, area, selected, c);
    }
  }

  #subtasks(ctx, rect, place, view, pxPerMs, area, selected, c) {
    const answer = this.#window(place, view);
    if (!answer) return;
    const trackPx = rect.height / 2;
    const xOf = (ms) => area.left + (ms - view.from) * pxPerMs;
    const draw = (track, start, end, fill) => {
      const x = Math.max(rect.x, xOf(start));
      const right = Math.min(rect.x + rect.width, xOf(end));
      if (right <= x) return;
      ctx.fillStyle = fill;
      ctx.fillRect(x, rect.y + track * trackPx + 1, Math.max(1, right - x - 0.5), Math.max(1, trackPx - 2));
    };
    for (const [track, start, end, cause] of answer.idle) {
      draw(track, start, end, stripes(ctx, c.bad));
      if (trackPx > 12 && (end - start) * pxPerMs > 70)
        label(
          ctx,
          {
            x: Math.max(rect.x, xOf(start)),
            y: rect.y + track * trackPx,
            width: (end - start) * pxPerMs,
            height: trackPx,
          },
          `idle, ${cause}-bound group`,
          c.ink,
          c.panel,
        );
    }
    for (const [job, kind, , start, end] of answer.bars) {
      const color = selected !== null && selected !== job ? c.line : c.jobs[job % c.jobs.length];
      draw(kind === COMP ? 0 : 1, start, end, kind === COMP ? color : stripes(ctx, color));
      const width = xOf(end) - xOf(start);
      if (width > 46 && trackPx > 12)
        label(
          ctx,
          { x: Math.max(rect.x, xOf(start)), y: rect.y + (kind === COMP ? 0 : trackPx), width, height: trackPx },
          `${this.info.ids[job]} ${answer.kinds[kind]}`,
          kind === COMP && color !== c.line ? c.onJob[job % c.jobs.length] : c.ink,
          kind === COMP ? null : c.panel,
        );
    }
  }

  /** The subtasks around the view; fetched once, for an interval three times as long. */
  #window(place, view) {
    const [from, , data] = this.store.groups[place];
    const step = 2 ** Math.ceil(Math.log2(Math.max(1, view.to - view.from)));
    const begin = Math.floor(view.from / step) * step;
    const key = `${place}/${begin}/${step}`;
    if (!this.windows.has(key)) {
      if (this.windows.size > MAX_WINDOWS) this.windows.clear();
      this.windows.set(key, null);
      const asked = new URLSearchParams({
        at: String(from),
        from: String(Math.max(0, Math.floor(begin))),
        to: String(Math.ceil(begin + 2 * step)),
      });
      get(`/api/runs/${this.info.run.id}/groups/${data.group}/subtasks/?${asked}`)
        .then((answer) => {
          this.windows.set(key, answer);
          this.part.loaded();
          this.onData();
        })
        .catch((error) => {
          this.part.failed(error);
          setTimeout(() => this.windows.delete(key) && this.onData(), AGAIN_MS);
        });
    }
    return this.windows.get(key);
  }
}

/** True for a group all of whose jobs are dimmed. */
const dims = (frame, { jobs }) => jobs.every((job) => frame.dims(job));

function covers([from, until], ms) {
  return from <= ms && (until === NEVER || ms < until);
}

function same(one, other) {
  return one.length === other.length && one.every((value, i) => value === other[i]);
}

/** Writes what fits of a text into a rectangle; backing: colour behind it, where stripes would make it illegible. */
function label(ctx, rect, text, fill, backing = null) {
  if (rect.height < LABEL_PX || rect.width < 40) return [];
  ctx.font = `${LABEL_PX}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textBaseline = 'middle';
  ctx.fillStyle = fill;
  const parts = text.split(/(?<=:|,)/);
  while (parts.length > 1 && ctx.measureText(parts.join('')).width > rect.width - 8) parts.pop();
  const shown = parts.join('').replace(/[:,]$/, '');
  const { width } = ctx.measureText(shown);
  if (width > rect.width - 6) return [];
  const middle = rect.y + rect.height / 2;
  if (backing) {
    ctx.globalAlpha = 0.8;
    ctx.fillStyle = backing;
    ctx.fillRect(rect.x + 3, middle - LABEL_PX / 2 - 1, width + 4, LABEL_PX + 2);
    ctx.globalAlpha = 1;
    ctx.fillStyle = fill;
  }
  ctx.fillText(shown, rect.x + 5, middle);
  return [[rect.x, middle - LABEL_PX / 2 - 1, width + 8, LABEL_PX + 2]];
}
