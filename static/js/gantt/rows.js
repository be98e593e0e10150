// The rows of the Gantt: their list in an order, with the bars of each, updated as bars and jobs arrive.

import { CLOUD, PS, validAt } from '../core/columns/bars.js';
import { lowerBound } from '../util/binary-search.js';
import { changeTimes, serverAt } from '../util/capacity.js';
import { plural } from '../util/format.js';
import { AssignedSubRows } from './assigned-sub-rows.js';
import { measuresOf, serversOf, workersIn } from './row-measures.js';
import { sharedDomain } from './row-names.js';
import { jobRows, manyRows, ownerOf, serverRows } from './row-orders.js';

const GROUPS = { sites: 'site', users: 'user', groups: 'queue' };
const BULK = 20_000; // new bars from which rows are sorted once, and not for each bar

export class Rows {
  /**
   * order: 'servers' (grouped by site), 'jobs' (by arrival), 'sites', 'users' or 'groups'; info: the run's static
   * description; models: its execution models, which give the sub-rows of a server.
   */
  constructor(store, info, order, models) {
    this.store = store;
    this.info = info;
    this.models = models;
    this.order = order;
    this.query = '';
    // sites that are one row; where rows are queues or users: those with a row for each job
    this.folded = new Set();
    this.subRows = new AssignedSubRows(store);
    this.rebuild();
  }

  /** Starts over: another order, another filter, or a new snapshot. */
  rebuild() {
    this.generation = this.store.generation;
    this.list = [];
    this.byIndex = new Map();
    this.seen = 0;
    this.subRows.clear();
    this.anyPs = false;
    if (this.order === 'servers') this.#add(serverRows(this));
    else this.#add(this.many ? manyRows(this) : jobRows(this));
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

  /** The count of rows with that of bars: '80 servers, 105 bars'; without it if no row matches. @param {number} bars */
  withBars(bars) {
    return this.list.length ? `${this.countText}, ${plural(bars, 'bar')}` : this.countText;
  }

  /** Adds the bars that arrived since the last call; true if there were any. */
  sync() {
    if (this.generation !== this.store.generation) {
      this.rebuild();
      return true;
    }
    const before = this.seen + this.jobsSeen;
    if (this.order === 'jobs') {
      this.#add(jobRows(this, this.jobsSeen));
      this.jobsSeen = this.store.jobs.length;
    } else if (this.many && this.folded.size && this.jobsSeen < this.store.jobs.length) {
      this.rebuild(); // a new job may be one of an opened row
      return true;
    }
    this.#index(this.seen, this.store.bars.length - this.seen > BULK);
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

  /** Servers of a row: one server, all servers of a site, or none (a job, a user, a queue, the unlimited cloud). */
  serversOf(row) {
    return serversOf(row, this.info.cluster.servers);
  }

  /** Measures of a row (row-measures.js), with the servers as known at time p. */
  measures(row, p = Infinity) {
    const { cluster } = this.info;
    if (this.changes?.cluster !== cluster) this.changes = { cluster, times: changeTimes(cluster.servers) };
    const known = this.changes.times.filter((atMs) => atMs <= p).length; // changes that the servers of the row may show
    const measured = row.measuredAfter === known && row.measuredIn === cluster; // a new one when it may have changed
    if (row.measures && row.peakOf === undefined && measured) return row.measures;
    Object.assign(row, { measuredAfter: known, measuredIn: cluster });
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

  /** Folds or opens a row or heading; false where it can do neither. */
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

  /** Adds rows to the end of the list. @param {import('./row-orders.js').Entry[]} entries */
  #add(entries) {
    for (const [row, key] of entries) {
      this.list.push(row);
      if (key !== undefined) this.byIndex.set(key, row);
    }
  }

  #index(first, bulk) {
    const { bars } = this.store;
    this.subRows.grow();
    const owner = ownerOf(this);
    const touched = new Set();
    for (let bar = first; bar < bars.length; bar++) {
      this.anyPs ||= bars.role[bar] === PS;
      const row = this.byIndex.get(owner(bar));
      if (!row) continue;
      row.longest = Math.max(row.longest, bars.end_ms[bar] - bars.start_ms[bar]);
      this.subRows.add(bar, row);
      row.push(bar);
      if (bulk) touched.add(row);
      else row.sink(bars.start_ms);
    }
    for (const row of touched) row.sort(bars.start_ms);
    this.seen = bars.length;
  }
}
