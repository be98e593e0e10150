// Folds a run's events exactly as twin/state.py does (tests/fixtures/golden_log.json is folded by both).
//
// Bars are bi-temporal: born_ms is when they were decided, died_ms when a later plan replaced them (-1 = still true).
// At playhead p the picture is the rows with born <= p and (died = -1 or died > p).

import { Columns } from './lib/table.js';

export const NEVER = -1;
export const WORKER = 0;
export const PS = 1;
export const TRANSFER = 2;
export const CLOUD = -2;
export const BAR_WIDTH = 9; // numbers of one bar in a frame

const BAR_TYPES = {
  job: Int32Array, role: Int32Array, server: Int32Array, start_ms: Float64Array, end_ms: Float64Array, count: Int32Array,
  lane: Int32Array, chunk: Int32Array, group: Int32Array, born_ms: Float64Array, died_ms: Float64Array,
};
const JOB_TYPES = {
  arrived_ms: Float64Array, decided_ms: Float64Array, start_ms: Float64Array, finish_ms: Float64Array,
  completed_ms: Float64Array, utility: Float64Array,
};

export class Store {
  constructor() {
    this.clear();
  }

  clear() {
    this.lastSeq = 0;
    this.simMs = 0;
    this.finished = false;
    this.started = {};
    this.jobs = new Columns(JOB_TYPES);
    this.bars = new Columns(BAR_TYPES);
    this.verdicts = []; // [first kind, latest kind, latest code] of each job, or null
    this.alive = new Map(); // job -> rows of its bars that no later plan has replaced
    this.aliveOn = new Map(); // lane, as placeOf names it -> the same
    this.prices = new Map(); // slot -> [low, mean, high], each flat [site][resource]
    this.defaultPrices = null; // of slots never named
    this.horizonMs = 0; // the latest end of any bar or event: how far the time axis reaches
    this.generation = (this.generation ?? 0) + 1; // rises when everything was replaced; charts rebuild their indexes
    this.deaths = 0; // rises when a row's died_ms or end changed
    this.priceVersion = 0;
    this.regroupings = []; // [atMs, site, cause, before [cpu, net], after [cpu, net]] in the order told
    this.edits = []; // [atMs, [what was changed]] in the order told
    this.groups = []; // [fromMs, untilMs, data of grouped] in the order told; -1 = until further notice
    this.grouped = new Map(); // group -> its place in groups, while it has jobs
  }

  /** Takes a snapshot: {meta, columns} as GET /api/runs/<id>/snapshot/ sends it. */
  load({ meta, columns }) {
    this.clear();
    this.lastSeq = meta.last_seq;
    this.simMs = meta.sim_ms;
    this.finished = meta.finished;
    this.started = meta.started ?? {};
    this.verdicts = meta.verdicts ?? [];
    this.defaultPrices = meta.default_prices ?? null;
    for (const [slot, low, mean, high] of meta.prices ?? []) this.prices.set(slot, [low, mean, high]);
    this.regroupings = meta.regroupings ?? [];
    this.edits = meta.edits ?? [];
    this.groups = (meta.groups ?? []).map((row) => [...row]);
    this.groups.forEach(([, until, { group }], place) => until === NEVER && this.grouped.set(group, place));
    this.jobs.load(strip(columns, 'jobs_'));
    this.bars.load(strip(columns, 'bars_'));
    const { bars } = this;
    this.horizonMs = this.simMs;
    for (let row = 0; row < bars.length; row++) {
      if (bars.end_ms[row] > this.horizonMs) this.horizonMs = bars.end_ms[row];
      if (bars.died_ms[row] === NEVER) this.#lives(row);
    }
    if (this.finished) this.#finish();
    this.priceVersion++;
  }

  /** Folds the events of a frame; those already folded are passed over. Returns how many were new. */
  feed(events) {
    let fresh = 0;
    for (const [seq, atMs, kind, data] of events) {
      if (seq <= this.lastSeq) continue;
      this.#apply(seq, atMs, kind, data);
      fresh++;
    }
    return fresh;
  }

  #apply(seq, atMs, kind, data) {
    this.lastSeq = seq;
    this.simMs = atMs;
    if (atMs > this.horizonMs) this.horizonMs = atMs;
    if (kind === 'planned') this.#planned(atMs, data);
    else if (kind === 'lanes_planned') this.#lanesPlanned(atMs, data);
    else if (kind === 'decided') this.#decided(atMs, data);
    else if (kind === 'job_arrived') this.jobs.arrived_ms[this.#job(data.job)] = atMs;
    else if (kind === 'job_completed') {
      const job = this.#job(data.job);
      this.jobs.completed_ms[job] = atMs;
      this.jobs.utility[job] = data.utility;
    } else if (kind === 'priced') this.#priced(data);
    else if (kind === 'grouped') this.#grouped(atMs, data);
    else if (kind === 'regrouped') this.regroupings.push([atMs, data.site, data.cause, data.before, data.after]);
    else if (kind === 'edited') this.#edited(atMs, data);
    else if (kind === 'run_started') this.started = { ...data };
    else if (kind === 'run_finished') this.#finish();
  }

  /** Nothing comes any more: plans that were given up no longer stretch the axis. */
  #finish() {
    const { bars } = this;
    this.finished = true;
    this.horizonMs = this.simMs;
    for (let row = 0; row < bars.length; row++) if (bars.died_ms[row] === NEVER) this.horizonMs = Math.max(this.horizonMs, bars.end_ms[row]);
  }

  #job(index) {
    const { jobs } = this;
    while (jobs.length <= index) {
      const row = jobs.extend(1);
      for (const name of jobs.names) jobs[name][row] = name === 'utility' ? 0 : NEVER;
      this.verdicts.push(null);
    }
    return index;
  }

  #decided(atMs, data) {
    const job = this.#job(data.job);
    const verdict = this.verdicts[job];
    if (verdict === null) {
      this.jobs.decided_ms[job] = atMs;
      this.verdicts[job] = [data.kind, data.kind, data.code];
    } else {
      verdict[1] = data.kind;
      verdict[2] = data.code;
    }
  }

  #planned(atMs, data) {
    const job = this.#job(data.job);
    this.alive.set(job, this.#replace(this.#aliveOf(job), atMs));
    this.#append(data.bars, atMs);
    this.jobs.finish_ms[job] = data.finish_ms ?? NEVER;
    this.jobs.start_ms[job] = this.#firstStart(this.alive.get(job));
  }

  /** The futures of lanes: [role, server, lane] of each, then [job, start, finish] of the jobs on them, flat. */
  #lanesPlanned(atMs, { lanes, jobs, bars }) {
    const replaced = [];
    for (let i = 0; i < lanes.length; i += 3) {
      const place = placeName(lanes[i] === PS, lanes[i + 1], lanes[i + 2]);
      replaced.push(...(this.aliveOn.get(place) ?? []));
      this.aliveOn.delete(place);
    }
    this.#replace(replaced, atMs);
    this.#append(bars, atMs);
    for (let i = 0; i < jobs.length; i += 3) {
      const job = this.#job(jobs[i]);
      this.jobs.start_ms[job] = jobs[i + 1];
      this.jobs.finish_ms[job] = jobs[i + 2];
    }
  }

  /** Ends the rows' future at atMs: what had begun is cut, what had not is dropped. Returns the rows that stay true. */
  #replace(rows, atMs) {
    const { bars } = this;
    const stay = [];
    for (const row of rows) {
      if (bars.died_ms[row] !== NEVER) continue;
      if (bars.end_ms[row] <= atMs) {
        stay.push(row);
        continue;
      }
      bars.died_ms[row] = atMs;
      this.deaths++;
      if (bars.start_ms[row] < atMs) {
        const cut = bars.extend(1);
        bars.copyRow(row, cut);
        bars.end_ms[cut] = atMs;
        bars.born_ms[cut] = atMs;
        bars.died_ms[cut] = NEVER;
        stay.push(cut);
      }
    }
    return stay;
  }

  #append(flat, atMs) {
    const { bars } = this;
    const count = flat.length / BAR_WIDTH;
    let row = bars.extend(count);
    for (let i = 0; i < flat.length; i += BAR_WIDTH, row++) {
      bars.job[row] = flat[i];
      bars.role[row] = flat[i + 1];
      bars.server[row] = flat[i + 2];
      bars.start_ms[row] = flat[i + 3];
      bars.end_ms[row] = flat[i + 4];
      bars.count[row] = flat[i + 5];
      bars.lane[row] = flat[i + 6];
      bars.chunk[row] = flat[i + 7];
      bars.group[row] = flat[i + 8];
      bars.born_ms[row] = atMs;
      bars.died_ms[row] = NEVER;
      if (flat[i + 4] > this.horizonMs) this.horizonMs = flat[i + 4];
      this.#lives(row);
    }
  }

  /** A row that is true: a later plan of its job, or of its lane, finds it. */
  #lives(row) {
    const { bars } = this;
    this.#aliveOf(bars.job[row]).push(row);
    const place = placeOf(bars, row);
    if (place === null) return;
    const rows = this.aliveOn.get(place);
    if (rows) rows.push(row);
    else this.aliveOn.set(place, [row]);
  }

  #firstStart(rows) {
    const { bars } = this;
    let first = Infinity;
    for (const row of rows) if (bars.role[row] === WORKER && bars.start_ms[row] < first) first = bars.start_ms[row];
    return first === Infinity ? NEVER : first;
  }

  #grouped(atMs, data) {
    const known = this.grouped.get(data.group);
    if (known !== undefined) this.groups[known][1] = atMs;
    this.grouped.delete(data.group);
    if (!data.jobs.length) return;
    this.grouped.set(data.group, this.groups.length);
    this.groups.push([atMs, NEVER, data]);
  }

  /** Another world begins; its prices follow, if it has any. */
  #edited(atMs, { said }) {
    this.edits.push([atMs, said]);
    this.defaultPrices = null;
    this.prices.clear();
    this.priceVersion++;
  }

  #priced({ slots, low, mean, high }) {
    this.priceVersion++;
    if (slots === 'all') {
      this.defaultPrices = [low, mean, high];
      this.prices.clear();
      return;
    }
    const width = Math.floor(low.length / Math.max(1, slots.length));
    slots.forEach((slot, i) => {
      this.prices.set(slot, [low, mean, high].map((column) => column.slice(i * width, (i + 1) * width)));
    });
  }

  #aliveOf(job) {
    let rows = this.alive.get(job);
    if (!rows) this.alive.set(job, (rows = []));
    return rows;
  }
}

/** Whether a row belongs to the picture at playhead p. */
export function trueAt(bars, row, p) {
  const died = bars.died_ms[row];
  return bars.born_ms[row] <= p && (died === NEVER || died > p);
}

/** The lane of a bar, for plans of lanes: of bars with a chunk and of parameter servers of their own; null for others. */
function placeOf(bars, row) {
  const isPs = bars.role[row] === PS;
  const onCloud = bars.server[row] === CLOUD;
  if (bars.chunk[row] < 0 && !(isPs && (bars.lane[row] >= 0 || onCloud))) return null;
  return placeName(isPs, bars.server[row], onCloud ? bars.job[row] : bars.lane[row]);
}

function placeName(isPs, server, lane) {
  return `${isPs ? 'p' : 'w'}${server}/${lane}`;
}

function strip(columns, prefix) {
  const out = {};
  for (const name of Object.keys(columns)) if (name.startsWith(prefix)) out[name.slice(prefix.length)] = columns[name];
  return out;
}
