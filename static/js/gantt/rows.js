// Rows of the Gantt: the bars of each row, sorted by start, updated as bars arrive.

import { modelsOf } from '../models/index.js';
import { plural } from '../util/format.js';
import { lowerBound } from '../util/binary-search.js';
import { serverAt } from '../util/capacity.js';
import { measuresOf, serversOf, workersIn } from './row-measures.js';
import { sharedDomain } from './row-names.js';
import { giveLanes } from './sub-lanes.js';
import { CLOUD, PS, validAt } from '../core/bars.js';

const UNLAID = 255;
const MAX_LAID = 4000; // bars of a row of a site, user or queue that get lanes; beyond, it is shaded
const JOB_KEY = 2 ** 32; // indexes of jobs' rows below an opened queue or user, beside those of queues and users
const GROUPS = { sites: 'site', users: 'user', groups: 'queue' };
const TYPED_PX = 3; // height of a lane below which parameter servers are hidden, unless rows cannot be taller
export const MAX_ROW_PX = 64; // up to here rows can be made taller; rows that together fit the plot may be taller

/**
 * One row: a site header, a server, a job, or all of a site, user or queue. `index` names which; bars are rows of the
 * store.
 */
class Row {
  constructor(kind, label, index) {
    this.kind = kind; // site | server | job | many
    this.label = label;
    this.index = index;
    this.sorted = new Int32Array(8); // rows of the store by start
    this.length = 0;
    this.longest = 0; // ms of the longest bar: the range of a backward search
    this.unlaid = 0; // bars without a lane
    this.lanes = 0;
    /** @type {number[] | null} */
    this.typed = null; // [workers, parameter servers] of a server where bars have fixed sub-lanes
  }

  push(row) {
    if (this.length === this.sorted.length) {
      const grown = new Int32Array(this.length * 2);
      grown.set(this.sorted);
      this.sorted = grown;
    }
    this.sorted[this.length++] = row;
  }
}

export class Rows {
  /**
   * order: 'servers' (grouped by site), 'jobs' (by arrival), 'sites', 'users' or 'groups'; info: the run's static
   * description.
   */
  constructor(store, info, order) {
    this.store = store;
    this.info = info;
    this.models = modelsOf(info);
    this.order = order;
    this.query = '';
    // sites that are one row; where rows are queues or users: those with a row for each job
    this.folded = new Set();
    this.lanes = new Uint8Array(0);
    // Bars on the cloud's row that are alike share a sub-lane: the first -> how many they are, the others -> 0.
    this.copies = new Map();
    this.rebuild();
  }

  /** Starts over: another order, another filter, or a new snapshot. */
  rebuild() {
    this.generation = this.store.generation;
    this.list = [];
    this.byIndex = new Map();
    this.seen = 0;
    this.jobsSeen = 0;
    this.lanes.fill(UNLAID);
    this.copies.clear();
    this.anyPs = false;
    if (this.order === 'servers') this.#serverRows();
    else if (this.many) this.#manyRows();
    else this.#jobRows();
    this.jobsSeen = this.store.jobs.length;
    this.#index(0, true);
  }

  /** True if a row is a whole site, user or queue. */
  get many() {
    return this.order !== 'servers' && this.order !== 'jobs';
  }

  /** '80 servers', without the heads of the sites and the unlimited cloud; '12 jobs'; '3 queues' with their jobs. */
  get countText() {
    if (this.query && !this.list.length) return `No row matches “${this.query}”`;
    if (this.order === 'jobs') return plural(this.list.length, 'job');
    if (this.many) return plural(this.list.filter(({ kind }) => kind !== 'job').length, GROUPS[this.order]);
    const { servers } = this.info.cluster;
    const own = (row) => (row.kind === 'server' && row.index !== CLOUD ? 1 : 0);
    const inside = (row) => (row.kind === 'many' ? servers.filter(({ site }) => site === row.index).length : own(row));
    return plural(
      this.list.reduce((sum, row) => sum + inside(row), 0),
      'server',
    );
  }

  /** Adds the bars that arrived since the last call; true if there were any. */
  sync() {
    if (this.generation !== this.store.generation) {
      this.rebuild();
      return true;
    }
    const before = this.seen + this.jobsSeen;
    if (this.order === 'jobs') this.#jobRows();
    else if (this.many && this.folded.size && this.jobsSeen < this.store.jobs.length) {
      this.rebuild(); // a new job may be one of an opened row
      return true;
    }
    this.#index(this.seen, this.store.bars.length - this.seen > 20_000);
    return this.seen + this.jobsSeen !== before;
  }

  /** The positions [low, high) in row.sorted of bars that may overlap [from, to). */
  window(row, from, to) {
    const { start_ms: start } = this.store.bars;
    const key = (i) => start[row.sorted[i]];
    return [lowerBound(row.length, from - row.longest, key), lowerBound(row.length, to, key)];
  }

  /** The bars of a row in a range of time that are valid at p. */
  within(row, { from, to }, p) {
    const { bars } = this.store;
    const [low, high] = this.window(row, from, to);
    return [...row.sorted.subarray(low, high)].filter((bar) => bars.end_ms[bar] > from && validAt(bars, bar, p));
  }

  /** Assigns a lane to each bar of the row; returns the number of lanes drawn in a row of that height. */
  lanesOf(row, rowPx) {
    if (row.kind === 'many' && row.length > MAX_LAID) return Infinity;
    if (row.unlaid) {
      const fresh = [];
      for (let i = 0; i < row.length; i++) if (this.lanes[row.sorted[i]] === UNLAID) fresh.push(row.sorted[i]);
      fresh.sort((a, b) => a - b);
      const firsts = row.index === CLOUD && row.kind === 'server' ? this.#alike(fresh) : fresh;
      // beside typed lanes
      row.lanes = giveLanes(this.store.bars, row.sorted, row.length, row.longest, firsts, this.lanes, row.lanes);
      for (const bar of fresh) if (this.like?.has(bar)) this.lanes[bar] = this.lanes[this.like.get(bar)];
      this.like = null;
      row.unlaid = 0;
    }
    // parameter servers only where there is room, or where the rows cannot be made taller
    if (row.typed && rowPx < MAX_ROW_PX && (rowPx - 2) / row.lanes < TYPED_PX) return row.typed[0];
    return Math.max(1, row.lanes);
  }

  /** Number of bars that this one represents; 0 if another one represents it. */
  copiesOf(bar) {
    return this.copies.get(bar) ?? 1;
  }

  /**
   * Merges the chunks of a job in the cloud that were planned together, which run at the same time, into one bar.
   * Returns the first of each.
   */
  #alike(fresh) {
    const { bars } = this.store;
    const first = new Map();
    this.like = new Map(); // the others -> their first
    for (const bar of fresh) {
      const key = [
        bars.job[bar],
        bars.role[bar],
        bars.start_ms[bar],
        bars.end_ms[bar],
        bars.born_ms[bar],
        bars.died_ms[bar],
      ].join('/');
      if (!first.has(key)) {
        first.set(key, bar);
        continue;
      }
      this.like.set(bar, first.get(key));
      this.copies.set(bar, 0);
      this.copies.set(first.get(key), this.copiesOf(first.get(key)) + 1);
    }
    return [...first.values()];
  }

  /** Servers of a row: one server, all servers of a site, or none (a job, a user, a queue, the unlimited cloud). */
  serversOf(row) {
    return serversOf(row, this.info.cluster.servers);
  }

  /** Measures of a row (row-measures.js), with the servers as known at time p. */
  measures(row, p = Infinity) {
    const edits = this.store.edits.filter(([atMs]) => atMs <= p).length; // that the servers of the row may show
    if (row.measures && row.peakOf === undefined && row.measuredAfter === edits) return row.measures;
    row.measuredAfter = edits;
    const servers = this.serversOf(row).map((server) => serverAt(server, p));
    if (servers.length) return (row.measures = measuresOf(row, servers, this));
    if (row.peakOf !== row.length) {
      row.measures = [workersIn(row, this.store)];
      row.peakOf = row.length;
    }
    return row.measures;
  }

  /** Ending that the names of all servers have in common. */
  get domain() {
    const { servers } = this.info.cluster;
    if (this.domainOf?.count !== servers.length)
      this.domainOf = { count: servers.length, ending: sharedDomain(servers.map(({ name }) => name)) };
    return this.domainOf.ending;
  }

  #serverRows() {
    const { servers } = this.info.cluster;
    const match = (name) => !this.query || name.toLowerCase().includes(this.query);
    for (const site of ['edge', 'cloud']) {
      const members = servers
        .map((server, i) => [server, i])
        .filter(([server]) => server.site === site && match(server.name));
      if (!members.length) continue;
      const label = `${site} · ${plural(members.length, 'server')}`;
      if (this.folded.has(site)) {
        this.#add(Object.assign(new Row('many', label, site), { fold: true }));
        continue;
      }
      this.list.push(Object.assign(new Row('site', label, site), { fold: false }));
      for (const [server, i] of members) this.#add(this.#serverRow(server, i));
    }
    if (!this.info.cluster.cloud || !match('cloud')) return;
    this.list.push(new Row('site', 'unlimited cloud', 'unlimited'));
    this.#add(new Row('server', 'cloud', CLOUD));
  }

  /** One row a site, or one a user or queue in the order of their names. */
  #manyRows() {
    const match = (name) => !this.query || name.toLowerCase().includes(this.query);
    const jobs = this.#jobsOf();
    const add = (label, index) => {
      if (!match(label)) return;
      const own = jobs?.get(index) ?? [];
      if (!this.folded.has(index))
        return this.#add(Object.assign(new Row('many', label, index), jobs && { fold: true }));
      this.list.push(Object.assign(new Row('site', `${label} · ${plural(own.length, 'job')}`, index), { fold: false }));
      for (const job of own) this.#add(new Row('job', this.info.ids?.[job] ?? `job ${job}`, job), JOB_KEY + job);
    };
    if (this.order === 'sites') {
      const { servers, cloud } = this.info.cluster;
      for (const site of ['edge', 'cloud']) if (servers.some((server) => server.site === site)) add(site, site);
      if (cloud) add('unlimited cloud', 'unlimited');
      return;
    }
    const { words, codes } = this.info[this.order];
    words
      .map((word, code) => [word, code])
      .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
      .forEach(([word, code]) => add(word, code));
    if (codes.includes(-1)) add('none', -1);
  }

  /** The jobs of each user or queue, by code; null where rows are sites, which share jobs. */
  #jobsOf() {
    if (this.order === 'sites') return null;
    const { codes } = this.info[this.order];
    const found = new Map();
    for (let job = 0; job < this.store.jobs.length; job++) {
      if (!found.has(codes[job])) found.set(codes[job], []);
      found.get(codes[job]).push(job);
    }
    return found;
  }

  /** Folds or opens the row or heading at a place of the list; false where it can do neither. */
  toggle(row) {
    if (row?.fold === undefined || (row.kind === 'many' && !row.fold)) return false;
    if (!this.folded.delete(row.index)) this.folded.add(row.index);
    this.rebuild();
    return true;
  }

  /** The rows of sites, users or queues that a job belongs to: a function of {job, servers} that gives their keys. */
  get groupsOf() {
    const { cluster } = this.info;
    if (['servers', 'sites'].includes(this.order))
      return ({ servers }) => new Set(servers.map((server) => cluster.servers[server]?.site));
    const { codes } = this.info[this.order];
    return ({ job }) => [codes[job]];
  }

  /** The row that each bar lies on, as a function of the bar. */
  #owner() {
    const { bars } = this.store;
    if (this.order === 'servers') {
      if (!this.folded.size) return (bar) => bars.server[bar];
      const keys = this.info.cluster.servers.map(({ site }, i) => (this.folded.has(site) ? site : i));
      return (bar) => keys[bars.server[bar]] ?? bars.server[bar];
    }
    if (this.order === 'jobs') return (bar) => bars.job[bar];
    if (this.order === 'sites') {
      const siteOf = this.info.cluster.servers.map((server) => server.site);
      return (bar) => (bars.server[bar] === CLOUD ? 'unlimited' : siteOf[bars.server[bar]]);
    }
    const { codes } = this.info[this.order];
    const { folded } = this;
    if (!folded.size) return (bar) => codes[bars.job[bar]];
    return (bar) => (folded.has(codes[bars.job[bar]]) ? JOB_KEY + bars.job[bar] : codes[bars.job[bar]]);
  }

  #serverRow(server, i) {
    const row = new Row('server', server.name, i);
    for (const model of this.models) row.typed ??= model.subLanes(server);
    if (row.typed) row.lanes = row.typed[0] + row.typed[1];
    return row;
  }

  #jobRows() {
    const { jobs } = this.store;
    for (let job = this.jobsSeen; job < jobs.length; job++) {
      const label = this.info.ids?.[job] ?? `job ${job}`;
      if (!this.query || label.toLowerCase().includes(this.query)) this.#add(new Row('job', label, job));
    }
    this.jobsSeen = jobs.length;
  }

  #add(row, key = row.index) {
    this.list.push(row);
    this.byIndex.set(key, row);
  }

  #index(first, bulk) {
    const { bars } = this.store;
    if (this.lanes.length < bars.length) this.lanes = grow(this.lanes, bars.capacity, UNLAID);
    const ownerOf = this.#owner();
    const touched = bulk ? new Set() : null;
    for (let bar = first; bar < bars.length; bar++) {
      this.anyPs ||= bars.role[bar] === PS;
      const row = this.byIndex.get(ownerOf(bar));
      if (!row) continue;
      row.longest = Math.max(row.longest, bars.end_ms[bar] - bars.start_ms[bar]);
      const lane = this.#ownLane(bar, row);
      if (lane === null) row.unlaid++;
      else this.lanes[bar] = lane;
      row.push(bar);
      if (bulk) touched.add(row);
      else sink(row, bars.start_ms);
    }
    if (bulk) for (const row of touched) sortRow(row, bars.start_ms);
    this.seen = bars.length;
  }

  /** Lane of a bar on a server with typed workers: workers above, parameter servers below; elsewhere null. */
  #ownLane(bar, row) {
    const { bars } = this.store;
    if (!row.typed || bars.lane[bar] < 0) return null;
    return Math.min(UNLAID - 1, bars.lane[bar] + (bars.role[bar] === PS ? row.typed[0] : 0));
  }
}

/** Moves the last bar of the row to its position. */
function sink(row, start) {
  const { sorted } = row;
  const last = row.length - 1;
  const bar = sorted[last];
  if (last === 0 || start[sorted[last - 1]] <= start[bar]) return;
  const place = lowerBound(last, start[bar] + 0.5, (i) => start[sorted[i]]);
  sorted.copyWithin(place + 1, place, last);
  sorted[place] = bar;
}

function sortRow(row, start) {
  const { length } = row;
  let rising = true;
  for (let i = 1; i < length && rising; i++) rising = start[row.sorted[i - 1]] <= start[row.sorted[i]];
  if (rising) return;
  const order = row.sorted
    .subarray(0, length)
    .slice()
    .sort((a, b) => start[a] - start[b] || a - b);
  row.sorted.set(order);
}

function grow(array, length, filler) {
  const grown = new array.constructor(length).fill(filler);
  grown.set(array);
  return grown;
}
