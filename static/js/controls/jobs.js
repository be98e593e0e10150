// The table of jobs: searched, filtered, sorted and paged by the server, its state kept in the URL.

import { get } from '../lib/api.js';
import { $, debounce, fill, h } from '../lib/dom.js';
import { clock, duration, number, percent } from '../lib/format.js';
import { empty } from '../lib/list.js';
import { url } from '../lib/view.js';

const STATES = ['queued', 'planned', 'running', 'suspended', 'completed', 'rejected', 'unfinished'];
const GROUP_STATES = ['queued', 'planned', 'profiling', 'moving', 'running', 'paused', 'completed', 'rejected', 'unfinished'];
const SIZE = 25;
const COLUMNS = [
  ['id', 'Job', (row) => row.id],
  [null, 'State', (row) => h('span', { class: 'state', 'data-state': row.state }, row.state)],
  ['model', 'Model', (row) => row.model],
  ['arrived_ms', 'Arrived', (row) => clock(row.arrived_ms), true],
  ['start_ms', 'Start', (row) => clock(row.start_ms), true],
  ['finish_ms', 'Planned finish', (row) => clock(row.finish_ms), true],
  ['completed_ms', 'Completed', (row) => clock(row.completed_ms), true],
  ['jct_ms', 'JCT', (row) => duration(row.jct_ms), true],
  ['utility', 'Utility', (row) => (row.state === 'completed' ? number(row.utility) : '–'), true],
  [null, 'Reason', (row) => (row.code ? row.code.replaceAll('_', ' ') : '–')],
];

const GROUP_COLUMNS = [
  [null, 'Group', (row) => (row.here ? `${row.here.group} × ${number(row.here.machines, 0)}` : '–'), true],
  [null, 'On disk', (row) => (row.here ? percent(row.here.disk_ratio) : '–'), true],
  [null, 'Memory', (row) => (row.here ? `${number(row.here.memory_gb, 1)} GB` : '–'), true],
];

export class JobsTable {
  /** onPick(job); groups: whether jobs share machines in groups; then(): the moment shown, null for the newest. */
  constructor(runId, onPick, { groups, then }) {
    Object.assign(this, { runId, onPick, then });
    this.columns = groups ? [...COLUMNS.slice(0, 2), ...GROUP_COLUMNS, ...COLUMNS.slice(2)] : COLUMNS;
    const states = groups ? GROUP_STATES : STATES;
    this.query = url.get('q') ?? '';
    this.state = states.includes(url.get('state')) ? url.get('state') : '';
    this.sort = url.get('sort') ?? 'index';
    this.page = url.number('page') ?? 1;
    this.selected = null;
    const search = $('#jobs-q');
    const state = $('#jobs-state');
    fill(state, h('option', { value: '' }, 'every state'), states.map((name) => h('option', { value: name }, name)));
    search.value = this.query;
    state.value = this.state;
    search.addEventListener('input', debounce(() => this.#change({ query: search.value, page: 1 }), 250));
    state.addEventListener('change', () => this.#change({ state: state.value, page: 1 }));
  }

  /** Shows the newest rows; at most one request at a time. */
  async refresh() {
    if (this.loading) return void (this.again = true);
    this.loading = true;
    try {
      const asked = new URLSearchParams({ page: this.page, size: SIZE, sort: this.sort, q: this.query, state: this.state });
      const then = this.then();
      if (then !== null) asked.set('at_ms', then);
      this.#paint(await get(`/api/runs/${this.runId}/jobs/?${asked}`), then);
    } catch (error) {
      fill($('#jobs'), h('p', { class: 'error', role: 'alert' }, error.message));
    } finally {
      this.loading = false;
      if (this.again) {
        this.again = false;
        this.refresh();
      }
    }
  }

  select(job) {
    this.selected = job;
    if (this.last) this.#paint(this.last, this.lastThen);
  }

  #change(changes) {
    Object.assign(this, changes);
    url.set({ q: this.query, state: this.state, sort: this.sort === 'index' ? '' : this.sort, page: this.page === 1 ? '' : this.page });
    return this.refresh();
  }

  #paint(answer, then) {
    this.last = answer;
    this.lastThen = then;
    this.page = answer.page;
    const first = (answer.page - 1) * SIZE + 1;
    const filtered = this.query || this.state;
    $('#jobs-count').textContent = `${number(answer.count, 0)} ${filtered ? `of ${number(answer.total, 0)} ` : ''}arrived jobs, ${then === null ? 'at the newest moment' : `as of ${clock(then)}`}`;
    if (!answer.count) {
      fill($('#jobs'), filtered ? empty('No job matches', 'Change the search or the state.') : empty('No job has arrived yet', 'Jobs appear here as they arrive.'));
    } else fill($('#jobs'), this.#table(answer.rows));
    const pages = Math.max(1, Math.ceil(answer.count / SIZE));
    const go = (page, text) => h('button', { type: 'button', disabled: page < 1 || page > pages, onclick: () => this.#change({ page }) }, text);
    fill($('#jobs-pager'), answer.count > SIZE ? [go(answer.page - 1, 'Previous'), go(answer.page + 1, 'Next'),
      h('span', {}, `rows ${number(first, 0)} to ${number(first + answer.rows.length - 1, 0)} of ${number(answer.count, 0)}`)] : []);
  }

  #table(rows) {
    const head = this.columns.map(([key, title, , isNumber]) => {
      const arrow = this.sort === key ? ' ▲' : this.sort === `-${key}` ? ' ▼' : '';
      const flip = () => this.#change({ sort: this.sort === key ? `-${key}` : key, page: 1 });
      return h('th', { scope: 'col', class: isNumber ? 'number' : null, 'aria-sort': arrow ? (arrow === ' ▲' ? 'ascending' : 'descending') : null },
        key ? h('button', { type: 'button', onclick: flip }, title + arrow) : title);
    });
    const body = rows.map((row) => h('tr', {
      class: 'pick', tabindex: 0, 'data-job': row.index, 'aria-selected': row.index === this.selected ? 'true' : null,
      onclick: () => this.onPick(row.index), onkeydown: (event) => event.key === 'Enter' && this.onPick(row.index),
    }, this.columns.map(([, title, cell, isNumber]) => h('td', { class: isNumber ? 'number' : null, 'data-label': title }, cell(row)))));
    return h('table', { class: 'list' }, h('thead', {}, h('tr', {}, head)), h('tbody', {}, body));
  }
}
