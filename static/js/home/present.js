// The present on the overview: the servers of one run, its metrics, what is next and what needs attention.

import { BEGUN } from '../core/active-runs.js';
import { get } from '../core/api.js';
import { metricTable } from '../core/metric-table.js';
import { rulesOf } from '../util/run-modes.js';
import { eventText, stateText } from '../live/condition.js';
import { inCharge } from '../core/phases.js';
import { DataTable } from '../ui/data-table.js';
import { $, fill, h, setText } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { Poll } from '../util/poll.js';
import { duration, number, percent, sentence } from '../util/format.js';
import { runTime } from '../util/wall-clock.js';
import { attentionItems } from './attention.js';
import { metricTiles } from './metrics.js';
import { SCARCEST, ServerMap, scaleTitle, shownServers } from '../charts/servers/server-map.js';

const EACH_MS = 1000;
const CHOSEN = 'present-run'; // in the browser's storage: the run that its user has chosen
// Their content comes and goes: they keep the height of the most that they have held.
const PLACES = ['#present-servers', '#present-attention', '#present-next', '#present-waiting'];
const NEXT = {
  start: 'starts at',
  finish: 'finishes at',
  forecast: 'starts at about',
  forecast_finish: 'finishes at about',
};

/** The run shown: the chosen one, else a live cluster, else an active run, else the newest; undefined if none. */
export function presentOf(runs, chosen) {
  return (
    runs.find((run) => run.id === chosen) ??
    runs.find((run) => !rulesOf(run).simulated && BEGUN.includes(run.status)) ??
    runs.find((run) => BEGUN.includes(run.status)) ??
    runs[0]
  );
}

/** Number of the run that the user of this browser has chosen; 0 without one. */
export const chosenRun = () => Number(localStorage.getItem(CHOSEN));

/**
 * 'last poll at 14:20:05 UTC' of a live cluster, the time of its last event if it posts events; 'at 14:20:05' of other
 * runs. at: the moment shown.
 */
export function momentText(following, at, nowMs = Date.now()) {
  if (!following || following.state === 'starting') return `at ${at}`;
  return Number.isFinite(following.event_ms) ? eventText(following, nowMs) : `last poll at ${at}`;
}

export class Present {
  /** section: the element of templates/_present.html. */
  constructor(section) {
    this.section = section;
    this.run = null;
    this.runs = [];
    this.found = null;
    this.scale = ''; // the quantities to colour by
    this.table = null; // of the servers, once it is shown
    this.part = new PagePart('');
    this.poll = new Poll(
      () => this.#ask(),
      EACH_MS,
      (error) => this.#answered(error),
    );
    this.map = new ServerMap($('#present-servers', section), (i) => {
      location.href = `/runs/${this.run.id}/servers/${i}/`;
    });
    $('#present-by', section).addEventListener('change', ({ target }) => {
      this.map.by = target.value;
      if (this.found) this.map.set(this.found.load);
    });
    $('#present-run', section).addEventListener('change', ({ target }) => {
      localStorage.setItem(CHOSEN, target.value);
      this.show(this.runs);
    });
    const table = $('#present-table', section);
    table.addEventListener('click', () => {
      const open = table.getAttribute('aria-pressed') !== 'true';
      table.setAttribute('aria-pressed', String(open));
      $('#present-numbers', section).hidden = !open;
      this.#paintServerTable();
      if (!open && this.table) this.table.choice.button.hidden = true;
    });
  }

  /** Takes the runs of which one is shown: the newest first, then older active ones and the chosen one. */
  show(runs) {
    this.runs = runs;
    const run = presentOf(runs, chosenRun());
    this.section.hidden = !run;
    if (!run) return this.#leave();
    const other = run.id !== this.run?.id;
    const turned = other || run.status !== this.run.status;
    this.run = { ...run };
    if (other) {
      this.#leave();
      this.part = new PagePart(`current state of run ${run.id}`);
      this.#choices();
      this.#places((place) => (place.style.minHeight = ''));
    }
    this.#head();
    if (turned) this.poll.now();
  }

  /** Drops the metrics of the previous run. */
  #leave() {
    this.found = null;
    this.part.forget();
    this.section.dataset.metrics = 'loading';
  }

  #choices() {
    fill(
      $('#present-run', this.section),
      this.runs.map((run) =>
        h('option', { value: run.id, selected: run.id === this.run.id }, `${run.id} · ${run.scenario_name}`),
      ),
    );
  }

  #head() {
    const { id, scenario_name: name, status, schedulers, sim_ms: at } = this.run;
    const link = $('#present-name', this.section);
    setText(link, name);
    for (const anchor of [link, $('#present-open', this.section)]) anchor.href = `/runs/${id}/`;
    const following = rulesOf(this.run).simulated ? null : this.found?.following; // its run is always “running”
    const state = $('#present-state', this.section);
    state.dataset.state = following?.state ?? status;
    setText(state, following ? stateText(following.state) : status);
    setText($('#present-scheduler', this.section), inCharge(schedulers, this.run.began_at));
    setText($('#present-clock', this.section), momentText(following, this.#at(this.found?.sim_ms ?? at)));
    const said = $('#present-following', this.section);
    said.hidden = !following?.message;
    setText(said, sentence(following?.message));
    said.title = said.textContent; // a wide page has one line for it
  }

  /** Requests the current state; true if it will change. */
  async #ask() {
    const { id } = this.run;
    if (!document.hidden || !this.found) {
      const [found, metrics] = await Promise.all([get(`/api/runs/${id}/situation/`), metricTable()]);
      if (id === this.run.id) this.#paint(found, metrics);
    }
    return BEGUN.includes(this.run.status);
  }

  /** Marks the metrics after a request: with an error, those shown are old. */
  #answered(error) {
    if (error) this.part.failed(error);
    else if (this.found) this.part.loaded();
    const failed = this.found ? 'old' : 'absent';
    this.section.dataset.metrics = error ? failed : this.found ? '' : 'loading';
  }

  #paint(found, metrics) {
    this.found = found;
    this.#head();
    if (this.scale !== found.load.scale.join()) this.#scales(found.load);
    this.map.set(found.load);
    const tiles = metricTiles(found, metrics, this.run);
    fill($('#present-metrics', this.section), tiles.nodes);
    tiles.draw();
    fill($('#present-attention', this.section), attentionItems(found.attention, found.elsewhere));
    this.#list(
      '#present-next',
      found.next.map((event) => this.#next(event)),
      'No start or finish is known',
    );
    this.#list(
      '#present-waiting',
      found.queue.oldest.map((job) => this.#waiting(job)),
      'No waiting jobs',
    );
    this.#places((place) => (place.style.minHeight = `${place.offsetHeight}px`));
    this.#paintServerTable();
  }

  #places(change) {
    for (const place of PLACES) change($(place, this.section));
  }

  #scales({ measure, scale }) {
    const select = $('#present-by', this.section);
    this.scale = scale.join();
    this.map.by = SCARCEST;
    select.parentElement.hidden = measure !== 'resources';
    fill(
      select,
      h('option', { value: SCARCEST }, 'most allocated'), // the legend below says of what
      scale.map((name) => h('option', { value: name }, scaleTitle(name))),
    );
  }

  #list(selector, rows, none) {
    fill($(selector, this.section), rows.length ? rows : h('li', { class: 'muted' }, none));
  }

  #job(job, id) {
    return h('a', { href: `/runs/${this.run.id}/?job=${job}` }, id);
  }

  #at(ms) {
    return runTime(ms, this.run.began_at);
  }

  #next({ at_ms: at, kind, job, id }) {
    const ms = at - this.found.sim_ms;
    const left = ms < 1000 ? 'now' : `in ${duration(ms)}`;
    return h(
      'li',
      {},
      this.#job(job, id),
      ` ${NEXT[kind]} ${this.#at(at)}`,
      h('span', { class: 'muted' }, `, ${left}`),
    );
  }

  /** Line with the reason of a job that has no start yet. */
  #waiting({ job, id, since_ms: since, start_ms: start, forecast_ms: forecast, never, sentence }) {
    const none = never ? ', no start in the forecast' : '';
    const expected = forecast === null ? none : `, starts at about ${this.#at(forecast)}`;
    const planned = start === null ? expected : `, starts at ${this.#at(start)}`;
    const said = start === null ? [sentence, never].filter(Boolean).join(' ') : '';
    const why = said ? h('div', { class: 'muted small' }, said) : null;
    return h('li', {}, this.#job(job, id), ` since ${this.#at(since)}${planned}`, why);
  }

  #paintServerTable() {
    const box = $('#present-numbers', this.section);
    if (box.hidden || !this.found) return;
    const { scale } = this.found.load;
    this.table ??= new DataTable(box, {
      name: 'present-servers',
      tools: $('.present-map .bar', this.section),
      columns: [
        { title: 'Server', value: (i) => this.#servers().name[i], cell: (i) => this.#servers().name[i] },
        { title: 'Site', value: (i) => this.#servers().site[i], cell: (i) => this.#servers().site[i] },
        {
          title: 'Jobs',
          number: true,
          value: (i) => this.#servers().jobs[i],
          cell: (i) => number(this.#servers().jobs[i], 0),
        },
        ...scale.map((name, s) => ({
          title: scaleTitle(name),
          number: true,
          value: (i) => this.#servers().shares[s][i],
          cell: (i) => (this.#servers().shares[s][i] < 0 ? '–' : percent(this.#servers().shares[s][i] / 1000, 1)),
        })),
      ],
    });
    this.table.paint(shownServers(this.found.load));
  }

  #servers() {
    return this.found.load.servers;
  }
}
