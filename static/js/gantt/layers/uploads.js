// Uploads of chunks: from their dispatch, when they first appear in a plan, to their arrival after the upload delay.
//
// A chunk stays on its server, so its first bar in the log gives time and target; the duration follows from its
// job.

import { getColumns } from '../../core/api.js';
import { PagePart } from '../../ui/failures/page-part.js';
import { stripes } from '../../util/colors.js';
import { clock, duration, number, plural } from '../../util/format.js';
import { lowerBound } from '../../util/binary-search.js';
import { CLOUD, NEVER, WORKER, chunkKey } from '../../core/columns/bars.js';
import { LEVEL, Layer } from './layer.js';
import { addStrip, fillAll } from './strips.js';

const MAX_LINES = 4;

export class Uploads extends Layer {
  /** onData() is called when the delays have arrived. delays: for tests. */
  constructor(store, info, onData, delays = null) {
    super('uploads', LEVEL.ON_BARS);
    this.store = store;
    this.info = info;
    this.delays = delays;
    this.#forget();
    if (delays) return;
    const ask = () => getColumns(`/api/runs/${info.run.id}/delays/`);
    new PagePart('uploads of chunks').persist(ask).then(({ meta, columns }) => {
      this.delays = { values: meta.values, width: meta.width, code: columns.code };
      this.#forget();
      onData();
    });
  }

  get any() {
    this.#index();
    return this.bar.length > 0;
  }

  /** The uploads of a row that are known at p and touch [from, to): indexes of bar, from, until; by dispatch. */
  of(row, from, to, p) {
    this.#index();
    const list = (row.kind === 'job' ? this.byJob : this.byServer).get(row.index);
    if (!list) return [];
    const key = (i) => this.from[list[i]];
    const high = lowerBound(list.length, Math.min(to, p + 0.5), key);
    const found = [];
    for (let i = lowerBound(list.length, from - this.longest, key); i < high; i++)
      if (this.until[list[i]] > from) found.push(list[i]);
    return found;
  }

  /** The same, as [{job, server, from, until, count}], chunks that travel together as one. */
  grouped(row, from, to, p) {
    const { bars } = this.store;
    const groups = new Map();
    for (const i of this.of(row, from, to, p)) {
      const [job, server] = [bars.job[this.bar[i]], bars.server[this.bar[i]]];
      const key = `${job}/${server}/${this.from[i]}`;
      const group = groups.get(key);
      if (group) group.count += this.chunks(i);
      else groups.set(key, { job, server, from: this.from[i], until: this.until[i], count: this.chunks(i) });
    }
    return [...groups.values()];
  }

  /**
   * Mark on rows of bars: thin, hatched, at the foot of the sub-row where the chunk will run; else at the foot of the
   * row.
   */
  paint(ctx, frame) {
    const strips = new Map();
    for (const each of frame.views) {
      if (each.how === 'bars' && each.subRowPx >= 2) this.#onSubRows(ctx, frame, each, strips);
      else if (each.how === 'shade' && frame.rowPx >= 8) this.#under(ctx, frame, each);
    }
    fillAll(ctx, strips);
  }

  #onSubRows(ctx, frame, each, strips) {
    const { bars } = this.store;
    const { area, view, selected, c } = frame;
    let last = '';
    for (const i of this.of(each.row, view.from, view.to, frame.p)) {
      const bar = this.bar[i];
      const job = bars.job[bar];
      const subRow = each.row.kind === 'job' ? 0 : frame.rows.subRows.at(bar);
      if (subRow >= each.subRows || frame.rows.subRows.copiesOf(bar) === 0) continue;
      const x = Math.max(area.left - 2, frame.xOf(this.from[i]));
      const right = Math.min(area.right + 2, frame.xOf(this.until[i]));
      const same = `${job}/${subRow}/${x}/${right}`; // chunks of a job that share a sub-row travel together
      if (same === last) continue;
      last = same;
      const color = selected !== null && selected !== job ? c.muted : frame.paint(job, c)[0];
      addStrip(ctx, strips, {
        x,
        width: right - x,
        foot: each.y + (subRow + 1) * each.subRowPx,
        subRowPx: each.subRowPx,
        color,
      });
    }
  }

  #under(ctx, frame, { row, y }) {
    ctx.fillStyle = stripes(ctx, frame.c.ink);
    let until = -Infinity;
    for (const i of this.of(row, frame.view.from, frame.view.to, frame.p)) {
      const from = Math.max(this.from[i], until); // by dispatch: what is painted is not painted again
      until = Math.max(until, this.until[i]);
      const span = until > from ? frame.spanOf(from, until) : null;
      if (span) ctx.fillRect(span[0], y + frame.rowPx - 5, span[1] - span[0], 4);
    }
  }

  hit(x, y, frame) {
    const point = frame.at(x, y);
    if (!point || point.how === 'owned' || point.how === 'none') return null;
    const groups = this.grouped(point.row, point.t - point.slack, point.t + point.slack, frame.p);
    return groups.length ? { groups, row: point.row } : null;
  }

  describe({ groups, row }, frame) {
    const name = ({ server, job }) => (row.kind === 'job' ? `to ${frame.serverName(server)}` : frame.jobName(job));
    const lines = groups.slice(0, MAX_LINES).map((group) => {
      const chunks = group.count === 1 ? 'chunk' : 'chunks';
      return [
        name(group),
        `upload of ${number(group.count, 0)} ${chunks}, ${duration(group.until - group.from)}`,
        group.job,
      ];
    });
    if (groups.length > MAX_LINES) lines.push(['', `and ${plural(groups.length - MAX_LINES, 'more upload')}`]);
    return lines;
  }

  table(row, frame) {
    const { from, to } = frame.view;
    return this.grouped(row, from, to, frame.playhead.ms).map((group) => [
      frame.jobName(group.job),
      'upload',
      frame.serverName(group.server),
      group.count,
      clock(group.from),
      clock(group.until),
    ]);
  }

  chunks(i) {
    const { bars } = this.store;
    return bars.chunk[this.bar[i]] >= 0 ? 1 : bars.count[this.bar[i]];
  }

  #forget() {
    this.generation = this.store.generation;
    this.seen = 0;
    this.known = new Set(); // chunks
    this.bar = []; // of each upload: the first bar of its chunk
    this.from = [];
    this.until = [];
    this.longest = 0;
    this.byServer = new Map(); // server -> its uploads
    this.byJob = new Map();
  }

  #index() {
    if (!this.delays) return;
    const { bars } = this.store;
    if (this.generation !== this.store.generation) this.#forget();
    for (let bar = this.seen; bar < bars.length; bar++) {
      if (bars.role[bar] !== WORKER || (bars.chunk[bar] < 0 && bars.server[bar] !== CLOUD)) continue;
      const key = chunkKey(bars, bar);
      if (this.known.has(key)) continue;
      this.known.add(key);
      this.#add(bar);
    }
    this.seen = bars.length;
  }

  #add(bar) {
    const { bars } = this.store;
    const delay = this.#delay(bars.job[bar], bars.server[bar]);
    if (delay <= 0) return;
    const place = this.bar.length;
    this.bar.push(bar);
    this.from.push(bars.born_ms[bar]);
    this.until.push(bars.born_ms[bar] + delay);
    this.longest = Math.max(this.longest, delay);
    for (const [lists, owner] of [
      [this.byServer, bars.server[bar]],
      [this.byJob, bars.job[bar]],
    ]) {
      if (lists.has(owner)) lists.get(owner).push(place);
      else lists.set(owner, [place]);
    }
  }

  /** ms; the last column is the cloud's. */
  #delay(job, server) {
    const { values, width, code } = this.delays;
    return values[code[job * width + (server === CLOUD ? width - 1 : server)]] ?? NEVER;
  }
}
