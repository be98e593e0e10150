// Form of a new run: cards of traces, clusters and schedulers, a check before the start, and one button for a run or a
// race.

import { get, post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { url } from '../ui/address/query.js';
import { CardChoice } from './card-choice.js';
import { SchedulerCards, timeText } from './scheduler-cards.js';
import { arrivals, servers } from './pictures.js';
import { Options } from './options.js';
import { FitCheck } from '../scenarios/fit-check.js';
import { ownCluster } from '../scenarios/own-cluster.js';
import { Warnings, suitability } from '../scenarios/suitability.js';
import { empty } from '../ui/data-table.js';
import { $, debounce, fill, h } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { number, plural, sentence } from '../util/format.js';
import { repeatAfter } from '../util/poll.js';

const GENERATED = 'generate';
const CHECK_MS = 150;

/** Fills the form of the page. */
export async function newRun() {
  const paths = ['/api/schedulers/', '/api/traces/?size=500', '/api/clusters/?size=500'];
  const [schedulers, traces, clusters] = await new PagePart('form for a new run').first($('#new'), () =>
    Promise.all(paths.map((path) => get(path))),
  );
  await Promise.all([addNamed('trace', traces.results), addNamed('cluster', clusters.results)]);
  const ready = traces.results.filter((trace) => trace.status === 'ready' && trace.job_count > 0);
  if (!ready.length) return fill($('#new'), h('div', { class: 'wide' }, noTraces()));
  return new NewRun($('#new'), schedulers, ready, clusters.results).begin();
}

/** Adds the trace or cluster that the address names, if it is not among the newest ones. */
async function addNamed(name, rows) {
  const number = url.get(name);
  if (!/^\d+$/.test(number ?? '') || rows.some(({ id }) => String(id) === number)) return;
  const found = await get(`/api/${name}s/${number}/`).catch(logError);
  if (found) rows.push(found);
}

const noTraces = () =>
  empty(
    'A run needs a trace with its jobs',
    [
      'Generate one, ',
      h('a', { href: '/traces/' }, 'upload one'),
      ', or start from a template above, which includes one.',
    ],
    ['Generate a trace', '/traces/#generate'],
  );

class NewRun {
  constructor(box, schedulers, traces, clusters) {
    this.box = box;
    this.traces = traces;
    this.clusters = clusters;
    this.own = null; // the cluster of the chosen trace
    this.trace = new CardChoice({ legend: 'Trace', name: 'trace', onChange: () => this.#traceChosen() });
    this.cluster = new CardChoice({
      legend: 'Cluster',
      key: 'Squares: one or more servers each; stronger colour: more GPUs, or vCPUs where no server has a GPU',
      name: 'cluster',
      onChange: () => this.#clusterChosen(),
    });
    this.schedulers = new SchedulerCards(schedulers, () => this.#sync());
    this.options = new Options(() => this.#checkSoon());
    this.warnings = new Warnings();
    this.fit = new FitCheck();
    this.button = h('button', { class: 'primary', id: 'start-run' }, 'Start run');
    this.time = h('span', { class: 'muted small', id: 'f-time' });
    this.error = h('p', { class: 'error wide', role: 'alert', hidden: true });
    this.unproposed = ''; // sentence why no cluster is selected
    this.proposed = 0; // of clusters; a choice by hand outdates those that are under way
    this.#checkSoon = debounce(() => this.#check(), CHECK_MS);
    this.trace.set(
      traces.map(({ id, name }) => {
        const { picture, line } = arrivals(id);
        return { value: String(id), title: name, picture, lines: [line] };
      }),
    );
  }

  #checkSoon;

  begin() {
    const of = (rows) => rows.map(({ id }) => String(id));
    const [first] = this.traces;
    this.trace.value = url.choice('trace', of(this.traces), String(first.id), `The trace ${first.name} is selected.`);
    const able = this.schedulers.schedulers.filter((one) => !one.unavailable);
    this.schedulers.value = (able.find(({ name }) => name === 'oasis') ?? able[0]).name;
    this.#showClusters();
    fill(
      this.box,
      h('div', { class: 'wide choice-columns' }, this.trace.element, this.cluster.element, this.schedulers.element),
      this.options.nodes,
      this.warnings.box,
      this.fit.box,
      h('div', { class: 'wide start' }, this.button, this.time),
      this.error,
    );
    this.box.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#start().catch((error) => {
        this.error.hidden = false;
        fill(this.error, error.message);
        this.button.disabled = false;
      });
    });
    const cluster = url.choice('cluster', of(this.clusters), '', 'A cluster that suits the trace is selected.');
    if (cluster) this.cluster.value = cluster;
    this.#propose(!cluster);
    this.#sync();
  }

  /** Cards of the clusters, that of the trace first. */
  #showClusters() {
    const { own } = this;
    const ordered = own ? [own, ...this.clusters.filter(({ id }) => id !== own.id)] : this.clusters;
    const generated = { value: GENERATED, title: 'Generate a cluster', lines: ['As in the OASiS paper'] };
    this.cluster.set([
      ...ordered.map((c) => {
        const { picture, line } = servers(c.id);
        const source = c === own ? 'Cluster of this trace' : c.source;
        return { value: String(c.id), title: c.name, picture, lines: [line, source] };
      }),
      generated,
    ]);
  }

  #traceChosen() {
    this.own = null;
    this.#showClusters();
    this.#propose();
    this.#sync();
  }

  #clusterChosen() {
    this.proposed++;
    this.#sync();
  }

  /**
   * Shows the cluster of the trace, and selects it, or else the newest one on which its jobs fit; none if there is
   * none. select: false keeps the selection.
   */
  async #propose(select = true) {
    const mine = ++this.proposed;
    const answer = await this.#proposal(select).catch((error) => {
      logError(error);
      repeatAfter(error, () => mine === this.proposed && this.#propose(select));
      return { own: null, cluster: null, problem: sentence(`No cluster could be proposed: ${error.message}`) };
    });
    if (mine !== this.proposed) return;
    this.own = answer.own;
    if (this.own && !this.clusters.some(({ id }) => id === this.own.id)) this.clusters.push(this.own);
    this.#showClusters();
    if (!select) return;
    this.cluster.value = String(answer.cluster ?? '');
    this.unproposed = answer.problem ?? 'The jobs fit on none of the newest clusters.';
    this.#sync();
  }

  async #proposal(select) {
    const own = await ownCluster(this.trace.value);
    if (own || !select) return { own, cluster: own?.id };
    const choices = { trace: this.trace.value, scheduler: this.schedulers.value, parameters: this.options.parameters };
    return { own, ...(await suitability(choices)) };
  }

  #sync() {
    const own = this.clusters.find((c) => String(c.id) === this.cluster.value);
    const { chosen } = this.schedulers;
    this.options.show({ scheduler: chosen[0], several: chosen.length > 1, cluster: own });
    this.options.generated = this.cluster.value === GENERATED;
    fill(
      this.cluster.help,
      this.cluster.value || !this.unproposed ? null : `${this.unproposed} Choose a cluster, or generate one.`,
    );
    this.button.disabled = !chosen.length || !this.cluster.value;
    const many = `Race ${number(chosen.length, 0)} schedulers`;
    fill(this.button, chosen.length > 1 ? many : chosen.length ? `Run ${chosen[0].title}` : 'Choose a scheduler');
    this.#checkSoon();
  }

  async #check() {
    const [first] = this.schedulers.chosen;
    if (!this.cluster.value || !first) {
      this.warnings.clear();
      this.schedulers.check(null);
      fill(this.time);
      return this.fit.show(null);
    }
    const { slot, parameters } = this.options;
    const choices = {
      trace: this.trace.value,
      cluster: this.cluster.value,
      scheduler: first.name,
      ...(slot ? { slot_ms: String(slot) } : {}),
      parameters,
    };
    const answer = await this.warnings.check(choices, () => this.#checkSoon());
    if (!answer) return undefined;
    this.fit.show(answer.fit, first);
    this.schedulers.check(answer.fit);
    fill(this.time, answer.fit ? timeText(this.schedulers.chosen, answer.fit.earlier ?? {}) : null);
    if (answer.own_horizon) this.options.horizonHint(`default: ${plural(answer.own_horizon, 'slot')}`);
    return undefined;
  }

  async #start() {
    this.error.hidden = true;
    const given = this.options.read(); // wrong numbers are refused before anything is made
    this.button.disabled = true;
    let cluster = this.cluster.value;
    if (cluster === GENERATED) {
      const { servers: count, seed, horizon_slots: slots } = given;
      const body = { profile: 'oasis', servers: count, seed, horizon_slots: slots ?? 100 };
      cluster = (await post('/api/clusters/', body)).id;
    }
    const { chosen } = this.schedulers;
    const trace = this.traces.find(({ id }) => String(id) === this.trace.value);
    const scenario = await post('/api/scenarios/', {
      name: given.name || `${trace.name}, ${chosen[0].title}`,
      cluster: Number(cluster),
      trace: trace.id,
      scheduler: chosen[0].name,
      parameters: this.options.parameters,
      seed: given.seed,
      slot_ms: given.slot_ms,
      horizon_slots: given.horizon_slots,
    });
    if (chosen.length > 1) {
      const race = await post(`/api/scenarios/${scenario.id}/race/`, { schedulers: chosen.map(({ name }) => name) });
      return location.assign(race.compare);
    }
    const run = await post('/api/runs/', { scenario: scenario.id, ...given.pace });
    return location.assign(`/runs/${run.id}/`);
  }
}
