// Chunks on their way: from their dispatch, when they first stand in a plan, to their arrival after the upload delay.
//
// A chunk stays where it is sent, so its first bar in the log says when and where to; how long that takes follows from its job.

import { getColumns } from '../lib/api.js';
import { duration, number } from '../lib/format.js';
import { lowerBound } from '../lib/search.js';
import { CLOUD, NEVER, WORKER } from '../store.js';

const GANG = 0xfffff; // stands for the chunk of a bar that has none
const MOST_LINES = 4;

export class InFlight {
  /** onData() is called when the delays have come. delays: for tests. */
  constructor(store, info, onData, delays = null) {
    Object.assign(this, { store, info, delays });
    this.#forget();
    if (!info.scheduler.lanes || delays) return;
    getColumns(`/api/runs/${info.run.id}/delays/`).then(({ meta, columns }) => {
      this.delays = { values: meta.values, width: meta.width, code: columns.code };
      this.#forget();
      onData();
    }).catch(() => {}); // without them the picture lacks the uploads, nothing else
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
    for (let i = lowerBound(list.length, from - this.longest, key); i < high; i++) if (this.until[list[i]] > from) found.push(list[i]);
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

  /** Lines of a tooltip. name(group) -> what stands before it. */
  describe(row, t, slack, p, name) {
    const groups = this.grouped(row, t - slack, t + slack, p);
    const lines = groups.slice(0, MOST_LINES).map((group) => [name(group), `upload of ${number(group.count, 0)} ${group.count === 1 ? 'chunk' : 'chunks'}, ${duration(group.until - group.from)}`, group.job]);
    if (groups.length > MOST_LINES) lines.push(['', `and ${groups.length - MOST_LINES} more uploads`]);
    return lines;
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
      const chunk = bars.chunk[bar];
      if (bars.role[bar] !== WORKER || (chunk < 0 && bars.server[bar] !== CLOUD)) continue;
      const key = bars.job[bar] * (GANG + 1) + (chunk < 0 ? GANG : chunk);
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
    for (const [lists, owner] of [[this.byServer, bars.server[bar]], [this.byJob, bars.job[bar]]]) {
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
