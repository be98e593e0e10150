// Runs as cards with a small picture of their schedule, forks below the run that they continue.

import { BEGUN } from '../core/active-runs.js';
import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { MEANING } from '../core/job-state.js';
import { inCharge } from '../core/phases.js';
import { modeText, rulesOf, statusText } from '../util/run-modes.js';
import { fill, h, setText, wholeDates } from '../ui/dom.js';
import { term } from '../ui/labels/term.js';
import { toolbar } from '../ui/toolbar.js';
import { onTheme } from '../util/colors.js';
import { capital, duration, number, percent, wall } from '../util/format.js';
import { runTime } from '../util/wall-clock.js';
import { families, forkName } from './families.js';
import { isPassing, repeatAfter } from '../util/poll.js';
import { paintThumbnail, passed, said } from './thumbnail.js';
import { teamChip } from '../settings/team-chip.js';

const AGAIN_MS = 3000; // between two pictures of an active run

export class RunCards {
  /**
   * metrics: the table of metrics; tick(run): the box that chooses a run for a comparison; moment(run): its newest
   * metrics, if any.
   */
  constructor(box, { metrics, tick, moment }) {
    this.box = box;
    this.metrics = metrics;
    this.tick = tick;
    this.moment = moment;
    this.cards = new Map();
    this.order = '';
    this.seen = new IntersectionObserver((entries) => entries.forEach((entry) => this.#looked(entry)));
    setInterval(() => document.hidden || this.cards.forEach((card) => card.again()), AGAIN_MS);
    onTheme(() => this.cards.forEach((card) => card.paint()));
  }

  /** Shows these runs, or `none` where there are none. */
  paint(runs, none) {
    const found = families(runs);
    const order = found.map(({ run, forks }) => [run.id, ...forks.map((fork) => fork.run.id)].join('-')).join();
    if (order !== this.order || !runs.length) this.#arrange(found, none);
    this.order = order;
    for (const run of runs) this.cards.get(run.id).update(run, this.moment(run));
  }

  clear() {
    this.order = '';
    this.cards.clear();
    this.seen.disconnect();
    this.box.replaceChildren();
  }

  #arrange(found, none) {
    const kept = this.cards;
    this.cards = new Map();
    this.seen.disconnect();
    const card = (run, parent, depth) => {
      const made = kept.get(run.id) ?? new Card(run, this.tick(run), this.metrics);
      made.place(parent, depth);
      this.cards.set(run.id, made);
      return made.node;
    };
    const items = found.map(({ run, forks }) => {
      const own = card(run, null, 0);
      const below = forks.map(({ run: fork, depth }) => card(fork, run, depth));
      return h('li', { class: 'family' }, own, below.length ? h('ul', { class: 'forks' }, below.map(item)) : null);
    });
    fill(this.box, items.length ? h('ul', { class: 'run-cards' }, items) : none);
    for (const made of this.cards.values()) this.seen.observe(made.node);
  }

  #looked({ target, isIntersecting }) {
    const card = [...this.cards.values()].find(({ node }) => node === target);
    card?.show(isIntersecting);
  }
}

const item = (node) => h('li', {}, node);

/** One run: name, state, picture and metrics. */
export class Card {
  constructor(run, box, metrics) {
    this.run = run;
    this.metrics = metrics;
    this.visible = this.asking = this.resting = false; // resting: after a failure, until the next request is due
    this.found = null;
    this.drawn = ''; // what the picture shows
    this.problem = ''; // with its newest request
    this.name = h('a', { href: `/runs/${run.id}/` });
    this.state = h('span', { class: 'state' });
    this.canvas = h('canvas', { role: 'img', width: 1, height: 1, 'aria-label': 'Allocation, loading' });
    this.now = h('i', { class: 'pointer-line', hidden: true });
    this.line = h('p', { class: 'muted small by' });
    this.values = h('dl', { class: 'run-metrics' });
    toolbar(this.values); // the terms are one tab stop
    this.note = h('p', { class: 'muted small', hidden: true });
    this.node = h(
      'article',
      { class: 'run-card', 'data-run': run.id },
      h('header', {}, box, h('h3', {}, this.name), teamChip(run), this.state),
      h('a', { class: 'thumbnail', href: `/runs/${run.id}/`, tabindex: -1 }, this.canvas, this.now),
      this.line,
      this.values,
      this.note,
    );
  }

  /** Below its parent the card is low, and named by what it changes. */
  place(parent, depth) {
    this.parent = parent;
    this.node.classList.toggle('fork', Boolean(parent));
    this.node.style.setProperty('--depth', String(Math.max(0, depth - 1)));
  }

  update(run, moment) {
    this.run = run;
    setText(this.name, `${run.id} · ${this.parent ? forkName(run, this.parent) : run.scenario_name}`);
    this.name.title = run.scenario_name;
    this.state.dataset.state = run.status;
    setText(this.state, statusText(run));
    const line = lineOf(run, moment, !this.parent);
    if (this.line.textContent !== line) fill(this.line, wholeDates((this.line.title = line)));
    const cells = cardMetrics(run, moment, this.metrics);
    const key = JSON.stringify(cells);
    if (key !== this.painted) {
      this.painted = key;
      fill(
        this.values,
        cells.map(([title, value]) => h('div', {}, h('dt', {}, nameOf(title, this.metrics)), h('dd', {}, value))),
      );
    }
    this.#note();
    this.#ask();
  }

  #note() {
    const note = this.run.activity?.text || this.run.message || this.problem; // the message may be of an earlier wait
    this.note.hidden = !note;
    setText(this.note, note);
  }

  show(visible) {
    this.visible = visible;
    this.#ask();
  }

  again() {
    if (BEGUN.includes(this.run.status)) this.#ask(true);
  }

  async #ask(again = false) {
    const wanted = `${this.run.id} ${this.run.status}`;
    if (!this.visible || this.asking || this.resting || (!again && wanted === this.drawn)) return;
    this.asking = true;
    try {
      this.found = await get(`/api/runs/${this.run.id}/thumbnail/`);
      this.drawn = wanted;
      this.problem = '';
      this.#note();
      this.paint();
    } catch (error) {
      this.resting = isPassing(error);
      this.drawn = this.resting ? '' : wanted; // wanted: the run was just deleted, or the user has no access to it
      this.problem = error.status === 404 ? '' : `Not loaded: thumbnail of the schedule. ${error.message}`;
      this.canvas.setAttribute('aria-label', error.message);
      this.#note();
      logError(error);
      repeatAfter(error, () => {
        this.resting = false;
        this.#ask(); // or once the card is visible again
      });
    } finally {
      this.asking = false;
    }
  }

  paint() {
    if (!this.found) return;
    paintThumbnail(this.canvas, this.found);
    const share = passed(this.found);
    this.now.hidden = share >= 1;
    this.now.style.left = `${share * 100}%`;
    this.canvas.setAttribute('aria-label', said(this.found, this.run.began_at));
    this.canvas.parentElement.title = said(this.found, this.run.began_at);
  }
}

/** 'OASiS · live · 12:24:44 · 2026-11-23 15:10 UTC': scheduler, mode, time of the run, start. */
export function lineOf(run, moment, whole = true) {
  const ms = (BEGUN.includes(run.status) ? moment?.sim_ms : null) ?? run.sim_ms;
  const at = runTime(ms, run.began_at).replaceAll(' ', '\u00a0'); // days, time and UTC stay together
  const charge = inCharge(run.schedulers, run.began_at);
  return [charge, ...(whole ? [modeText(run.mode)] : []), at, wall(run.created_at)].join(' · ');
}

/** The title of a metric or a state, with its definition where it has one. */
function nameOf(title, table) {
  const metric = ['total_utility', 'mean_jct_ms', 'utilization.gpu'].map((name) => table.get(name)).find(titled(title));
  const meaning = MEANING[/** @type {keyof typeof MEANING} */ (title.toLowerCase())];
  if (metric) return term(title, metric);
  return meaning ? term(title, { definition: `${capital(meaning)}.` }) : title;
}

const titled = (title) => (metric) => metric?.title === title;

/** [[title, value]] of a run: jobs by outcome, then what was reached. table: the table of metrics. */
export function cardMetrics(run, moment, table) {
  const metrics = run.metrics ?? {};
  const jobs = moment?.jobs;
  const running = jobs && jobs.running + (jobs.profiling ?? 0) + (jobs.moving ?? 0);
  const completed = metrics.completed ?? jobs?.completed;
  const cells = [
    ...(BEGUN.includes(run.status) ? [['Running', number(running, 0)]] : []),
    [
      rulesOf(run).anyEnd ? 'Ended' : 'Completed',
      completed === undefined ? '–' : `${number(completed, 0)} of ${number(run.job_count, 0)}`,
    ],
    ['Rejected', number(metrics.rejected ?? jobs?.rejected, 0)],
  ];
  const unfinished = (metrics.jobs ?? 0) - metrics.completed - metrics.rejected;
  if (!BEGUN.includes(run.status) && unfinished > 0) cells.push(['Unfinished', number(unfinished, 0)]);
  const utility = metrics.total_utility ?? moment?.utility ?? null;
  if (utility !== null) cells.push([table.get('total_utility').title, number(utility, 0)]);
  if (metrics.mean_jct_ms) cells.push([table.get('mean_jct_ms').title, duration(metrics.mean_jct_ms)]);
  if (metrics.utilization?.gpu) cells.push([table.get('utilization.gpu').title, percent(metrics.utilization.gpu)]);
  return cells;
}
