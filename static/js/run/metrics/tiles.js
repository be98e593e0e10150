// Status tiles of a run at the time shown, with sparklines over the whole run so far, from the first observation
// of a real cluster on.

import { fill, h } from '../../ui/dom.js';
import { sparkline } from '../../charts/sparkline.js';
import { term } from '../../ui/labels/term.js';
import { setTileText, tile } from '../../ui/labels/tile.js';
import { toolbar } from '../../ui/toolbar.js';
import { capital, duration, lowered, number, percent } from '../../util/format.js';
import { valueOf } from '../../core/metric-table.js';
import { ABSENT, COMPLETED, JOB_STATES, UNSEEN, jobCounts, jobStates } from '../../core/job-state.js';
import { modelsOf, sharesInUse, stateMeaning, stateWord, statesOf } from '../../models/index.js';

const BINS = 60;
const SPARK_MS = 1000; // sparklines change slowly, and read every bar

/**
 * {'not arrived' and each of JOB_STATES: number of jobs, utility, jct (ms, their sum)} at moment p; total: of the run's
 * jobs. NaN before a real cluster was observed for the first time.
 */
export function summary(store, p, total) {
  const { jobs } = store;
  const none = p < store.seenFromMs ? NaN : 0;
  const states = Object.fromEntries(JOB_STATES.map((name) => [name, none]));
  const sum = { 'not arrived': total, ...states, utility: none, jct: none };
  jobStates(store, p).forEach((code, job) => {
    if (code === ABSENT) return;
    sum['not arrived']--;
    if (code === UNSEEN) return;
    sum[JOB_STATES[code]]++;
    if (code !== COMPLETED) return;
    sum.utility += jobs.utility[job];
    sum.jct += jobs.completed_ms[job] - jobs.arrived_ms[job];
  });
  sum['not arrived'] = Math.max(0, sum['not arrived']); // a job of a real cluster may be streamed before the total
  return sum;
}

export class Tiles {
  /**
   * Job states, which add up to all jobs of the run; then utilization and results. metrics: the table of metrics.
   */
  constructor(element, store, info, metrics) {
    this.store = store;
    this.info = info;
    const states = ['not arrived', ...statesOf(info)].map((name) => {
      const word = stateWord(info, name);
      return [name, capital(word), `${capital(stateMeaning(info, name))}.`];
    });
    const shares = modelsOf(info).flatMap((model) => model.tiles(info));
    const achieved = info.worth ? ['utility', 'total_utility'] : ['jct', 'mean_jct_ms'];
    const ofRun = (/** @type {any} */ share) =>
      ofMetric(`At the time shown; ${info.covers?.[share[1]]?.text ?? 'for the whole run'}`)(share);
    const ofMetric =
      (about) =>
      (/** @type {any} */ [key, metric]) => {
        const { title, definition, direction } = metrics.get(metric);
        return [key, title, `${about}: ${definition}`, direction];
      };
    const measured = [...shares.map(ofRun), ofMetric('Up to the time shown')(achieved)];
    this.measured = null; // metrics of the run, once it has ended
    this.ended = false; // whether means of the whole run are shown
    this.means = shares.map(([key, metric]) => ({ ...metrics.get(metric), key, metric }));
    this.tiles = [...states, ...measured].map(([key, title, hint, better]) => {
      const canvas = h('canvas', { 'aria-hidden': 'true' });
      const node = tile(title, '–', { hint, better, more: canvas, id: `tile-${key.replace(' ', '-')}` });
      return { key, value: node.querySelector('dd'), canvas, node };
    });
    fill(
      element,
      this.tiles.map(({ node }) => node),
    );
    toolbar(element); // the terms are one tab stop
  }

  /** The run has ended with these metrics: at its end, means of the whole run replace shares of that moment. */
  end(metrics) {
    this.measured = metrics;
  }

  paint(p, liveMs) {
    /** @type {Record<string, number>} */
    const sum = summary(this.store, p, this.info.ids.length);
    this.#name(this.measured !== null && p >= liveMs);
    const now = this.ended ? this.#overRun() : this.#shares(p, p, 1, 1);
    const texts = {
      utility: number(sum.utility, 1),
      jct: sum.completed ? duration(sum.jct / sum.completed) : '–',
      ...Object.fromEntries(Object.entries(now).map(([key, values]) => [key, percent(values[0], 1)])),
    };
    for (const { key, value } of this.tiles) setTileText(value, texts[key] ?? number(sum[key], 0));
    if (performance.now() - (this.sparkedAt ?? -Infinity) < SPARK_MS && this.sparkedLive === liveMs > 0) {
      clearTimeout(this.later);
      this.later = setTimeout(() => this.#sparks(p, liveMs), SPARK_MS);
    } else this.#sparks(p, liveMs);
    return sum;
  }

  /** Names the tiles of shares by what they show. */
  #name(ended) {
    if (ended === this.ended) return;
    this.ended = ended;
    for (const { key, metric, title, definition, direction } of this.means) {
      const { node } = this.tiles.find((each) => each.key === key);
      const part = this.info.covers?.[metric];
      const run = part ? part.text : 'for the whole run';
      const about = ended ? capital(run) : `At the time shown; ${run}`;
      const name = ended ? `Mean ${lowered(title)}${part ? ` ${part.title}` : ''}` : title;
      fill(node.querySelector('dt'), term(name, { definition: `${about}: ${definition}`, direction }));
    }
  }

  /** {key of a tile: [its metric of the whole run]} */
  #overRun() {
    return Object.fromEntries(this.means.map(({ key, metric }) => [key, [valueOf(this.measured, metric)]]));
  }

  /** {key of a tile: utilization per bin, both sites together}; NaN in phases of another execution model. */
  #shares(p, from, width, bins) {
    return sharesInUse(this.store, this.info, p, from, width, bins);
  }

  #sparks(p, liveMs) {
    this.sparkedAt = performance.now();
    this.sparkedLive = liveMs > 0;
    const until = Math.max(1, liveMs);
    const from = Math.min(Math.max(0, this.store.seenFromMs), until - 1);
    const width = (until - from) / BINS;
    const shares = this.#shares(p, from, width, BINS);
    const lines = { ...jobCounts(this.store, p, from, width, BINS), ...shares };
    const last = Math.max(0, Math.ceil((p - from) / width));
    for (const { key, canvas } of this.tiles) {
      if (lines[key]) sparkline(canvas, lines[key], last, BINS);
    }
  }
}
