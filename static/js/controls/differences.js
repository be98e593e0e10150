// The jobs that two runs treat otherwise: filtered by kind, searched, sorted and paged by the server, kept in the URL.

import { get } from '../lib/api.js';
import { KINDS, KIND_COLORS, deltaText, place } from '../lib/compare.js';
import { $, debounce, fill, h } from '../lib/dom.js';
import { clock, number } from '../lib/format.js';
import { empty } from '../lib/list.js';
import { url } from '../lib/view.js';

const SIZE = 25;
const TITLES = { shifted: 'Shifted', moved: 'Moved', admitted: 'Admitted', rejected: 'Rejected', preempted: 'Preempted' };

/** The colour and name of a kind; the colour is one of the jobs' palette. */
export function kindMark(kind) {
  return h('i', { class: kind ? `swatch job-${KIND_COLORS[kind]}` : 'swatch same' });
}

export class Differences {
  /** onPick(row or null): the row's job in every schedule. */
  constructor(ids, onPick) {
    this.ids = ids;
    this.onPick = onPick;
    this.kind = KINDS.includes(url.get('kind')) ? url.get('kind') : '';
    this.query = url.get('q') ?? '';
    this.sort = url.get('sort') ?? 'index';
    this.page = url.number('page') ?? 1;
    this.selected = null; // id of a job
    const search = $('#differences-q');
    search.value = this.query;
    search.addEventListener('input', debounce(() => this.#change({ query: search.value, page: 1 }), 250));
  }

  /** answer: of GET /api/compare/; other: the run told against the base. */
  show(answer, other) {
    this.answer = answer;
    if (this.other !== other && this.other !== undefined) this.page = 1;
    this.other = other;
    this.#paintKinds();
    return this.refresh();
  }

  async refresh() {
    const asked = this.#asked();
    $('#differences-csv').href = `/api/compare/differences.csv?${asked}`;
    asked.set('page', this.page);
    asked.set('size', SIZE);
    const request = (this.request = get(`/api/compare/jobs/?${asked}`));
    try {
      const answered = await request;
      if (request === this.request) this.#paint(answered);
    } catch (error) {
      if (request === this.request) fill($('#differences'), h('p', { class: 'error', role: 'alert' }, error.message));
    }
  }

  select(id) {
    this.selected = id;
    if (this.last) this.#paint(this.last);
  }

  #asked() {
    const asked = new URLSearchParams({ runs: this.ids.join(','), run: this.other });
    for (const [name, value] of [['kind', this.kind], ['q', this.query], ['sort', this.sort === 'index' ? '' : this.sort]]) if (value) asked.set(name, value);
    return asked;
  }

  #change(changes) {
    Object.assign(this, changes);
    url.set({ kind: this.kind, q: this.query, sort: this.sort === 'index' ? '' : this.sort, page: this.page === 1 ? '' : this.page });
    this.#paintKinds();
    return this.refresh();
  }

  #paintKinds() {
    const told = this.answer.differences.find(({ run }) => run === this.other);
    const button = (kind, text, count) => h('button', { type: 'button', 'data-kind': kind, 'aria-pressed': String(this.kind === kind), onclick: () => this.#change({ kind, page: 1 }), disabled: !count && this.kind !== kind },
      kind ? kindMark(kind) : null, text, h('b', {}, number(count, 0)));
    fill($('#kinds'), button('', 'All', told.differing), KINDS.map((kind) => button(kind, TITLES[kind], told.counts[kind])));
    const base = this.answer.runs[0].id;
    const sentence = this.kind ? `${TITLES[this.kind]}: ${this.answer.kinds[this.kind].replace('the base', `run ${base}`).replace('the other', `run ${this.other}`)}.` : `A job may differ in several ways at once; ${number(this.answer.shared.jobs - told.differing, 0)} of ${number(this.answer.shared.jobs, 0)} shared jobs do not differ or have not arrived.`;
    $('#kind-help').textContent = sentence;
  }

  #paint(answered) {
    this.last = answered;
    this.page = answered.page;
    const filtered = this.kind || this.query;
    $('#differences-count').textContent = `${number(answered.count, 0)} ${filtered ? `of ${number(answered.total, 0)} ` : ''}jobs differ between run ${this.answer.runs[0].id} and run ${this.other}`;
    if (!answered.count) fill($('#differences'), filtered ? empty('No job matches', 'Change the search or the kind.') : empty('No difference', 'Both runs treat every job that has arrived alike.'));
    else fill($('#differences'), this.#table(answered));
    const pages = Math.max(1, Math.ceil(answered.count / SIZE));
    const first = (answered.page - 1) * SIZE + 1;
    const go = (page, text) => h('button', { type: 'button', disabled: page < 1 || page > pages, onclick: () => this.#change({ page }) }, text);
    fill($('#differences-pager'), answered.count > SIZE ? [go(answered.page - 1, 'Previous'), go(answered.page + 1, 'Next'),
      h('span', {}, `rows ${number(first, 0)} to ${number(first + answered.rows.length - 1, 0)} of ${number(answered.count, 0)}`)] : []);
  }

  #table({ rows, span_ms: span }) {
    const base = this.answer.runs[0].id;
    const head = [['index', 'Job'], [null, 'Difference'], [null, `Run ${base}`], [null, `Run ${this.other}`], [null, `When: ${base} above, ${this.other} below`],
      ['start', 'Start', true], ['finish', 'Finish', true], ['jct', 'JCT', true], ['utility', 'Utility', true]].map(([key, title, isNumber]) => {
      const arrow = key && this.sort === key ? ' ▲' : key && this.sort === `-${key}` ? ' ▼' : '';
      const flip = () => this.#change({ sort: this.sort === key ? `-${key}` : key, page: 1 });
      return h('th', { scope: 'col', class: isNumber ? 'number' : null, 'aria-sort': arrow ? (arrow === ' ▲' ? 'ascending' : 'descending') : null, title: isNumber ? `Run ${this.other} minus run ${base}` : null },
        key ? h('button', { type: 'button', onclick: flip }, title + arrow) : title);
    });
    const body = rows.map((row) => {
      const pick = () => this.onPick(row.id === this.selected ? null : row);
      return h('tr', { class: 'pick', tabindex: 0, 'data-job': row.id, 'aria-selected': row.id === this.selected ? 'true' : null, onclick: pick, onkeydown: (event) => event.key === 'Enter' && pick() },
        h('td', {}, row.id, h('span', { class: 'why small' }, row.model)), h('td', { class: 'nowrap' }, row.kinds.map((kind) => h('span', { class: 'kind' }, kindMark(kind), kind))),
        state(row.base), state(row.other), h('td', { class: 'when' }, when(row, span)),
        change(row, 'start_ms', 'ms'), change(row, 'finish_ms', 'ms'), change(row, 'jct_ms', 'ms'), change(row, 'utility', ''));
    });
    return h('table', {}, h('thead', {}, h('tr', {}, head)), h('tbody', {}, body));
  }
}

function state({ state: name, start_ms: start, finish_ms: finish }) {
  const times = start === null ? null : `${clock(start)} – ${finish === null ? 'open' : clock(finish)}`;
  return h('td', { class: 'nowrap' }, h('span', { class: 'state', 'data-state': name }, name), times ? h('span', { class: 'why small' }, times) : null);
}

/** Two bars on one axis, in the colour of the row's first kind. */
function when({ base, other, kinds }, span) {
  const bar = ({ start_ms: start, finish_ms: finish }, name) => {
    const at = place(start, finish ?? span[1], span);
    return h('span', { class: 'lane' }, at ? h('i', { class: `${name} ${name === 'before' ? '' : `job-${KIND_COLORS[kinds[0]]}`}`, css: { left: `${at[0]}%`, width: `${Math.min(at[1], 100 - at[0])}%` } }) : null);
  };
  return [bar(base, 'before'), bar(other, 'after')];
}

function change(row, name, unit) {
  const [a, b] = [row.base[name], row.other[name]];
  return h('td', { class: 'number' }, a === null || b === null ? '–' : deltaText(b - a, unit));
}
