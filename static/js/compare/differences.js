// Table of the jobs that two runs treat differently: filtered by kind, searched, sorted and paged by the server, kept
// in the URL.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { rulesOf } from '../util/run-modes.js';
import {
  DIFFERENCE_TYPES,
  KIND_COLORS,
  accountText,
  deltaText,
  kindText,
  kindWord,
  lateText,
  nothingText,
  place,
} from './comparison.js';
import { $, debounce, fill, h } from '../ui/dom.js';
import { clock, number, plural } from '../util/format.js';
import { repeatAfter } from '../util/poll.js';
import { DataTable, empty, rowsOfPage } from '../ui/data-table.js';
import { stateMark } from '../ui/labels/state-mark.js';
import { tellRefused, url } from '../ui/address/query.js';

const PAGE_SIZE = rowsOfPage(25);
const SORTS = ['index', 'start', 'finish', 'jct', 'utility'].flatMap((key) => [key, `-${key}`]);
const TITLES = {
  shifted: 'Shifted',
  moved: 'Moved',
  not_rejected: 'Not rejected',
  rejected: 'Rejected',
  preempted: 'Preempted',
};

/** The swatch of a kind, one of the colours of jobs; null: of jobs that are equal. */
export function kindMark(kind) {
  return h('i', { class: kind ? `swatch job-${KIND_COLORS[kind]}` : 'swatch same' });
}

export class Differences {
  /** onPick(row or null): the row's job in every schedule. */
  constructor(ids, onPick) {
    this.ids = ids;
    this.onPick = onPick;
    this.kind = url.choice('kind', DIFFERENCE_TYPES, '', 'Differences of every kind are listed.');
    this.query = url.get('q') ?? '';
    this.selected = null; // id of a job
    const search = $('#differences-q');
    search.value = this.query;
    search.addEventListener(
      'input',
      debounce(() => this.#first({ query: search.value }), 250),
    );
    this.page = url.number('page', { from: 1, instead: 'The first page of differences is shown.' }) ?? 1;
    /** @type {(DataTable & {other?: number}) | null} */
    this.table = null; // of `other`
    this.sort = url.choice('sort', SORTS, 'index', 'Differences are listed in order of arrival.');
  }

  /** The table of the baseline and the compared run, whose columns name both. */
  #tableOf(base, other) {
    if (this.table?.other === other) return this.table;
    const sort = this.table?.sort ?? this.sort;
    this.table?.remove();
    const anyEnd = new Set(this.answer.runs.filter((run) => rulesOf(run).anyEnd).map(({ id }) => id));
    this.table = new DataTable($('#differences'), {
      name: 'differences',
      size: PAGE_SIZE,
      sort,
      pages: $('#differences-pager'),
      columns: columnsOf(base, other, () => this.last.span_ms, { anyEnd, metrics: this.metrics }),
      keyOf: (row) => row.id,
      selected: (row) => row.id === this.selected,
      onPick: (row) => this.onPick(row.id === this.selected ? null : row),
      onChange: () => this.#change({}),
    });
    this.table.other = other;
    this.table.page = this.page;
    return this.table;
  }

  /** answer: of GET /api/compare/; other: the run compared with the baseline; metrics: the table of metrics. */
  show(answer, other, metrics) {
    this.answer = answer;
    this.metrics = metrics;
    if (this.other !== other && this.other !== undefined) this.page = 1;
    this.other = other;
    this.#tableOf(answer.runs[0].id, other);
    if (this.last?.run !== other) this.last = null; // its counts belong to another run
    this.#paintKinds();
    return this.refresh();
  }

  async refresh() {
    const asked = this.#asked();
    $('#differences-csv').href = `/api/compare/differences.csv?${asked}`;
    asked.set('page', String(this.table.page));
    asked.set('size', String(PAGE_SIZE));
    const request = (this.request = get(`/api/compare/jobs/?${asked}`));
    try {
      const answered = await request;
      if (request === this.request) this.#paint(answered);
    } catch (error) {
      if (request === this.request && error.status === 400 && this.table.page > 1) {
        if (!this.last) tellRefused(error.message, 'The first page of differences is shown.');
        this.table.page = 1;
        return this.refresh();
      }
      logError(error);
      if (request !== this.request) return;
      fill($('#differences'), h('p', { class: 'error', role: 'alert' }, error.message));
      repeatAfter(error, () => request === this.request && this.refresh());
    }
  }

  select(id) {
    this.selected = id;
    if (this.last) this.table.again();
  }

  #asked() {
    const asked = new URLSearchParams({ runs: this.ids.join(','), run: this.other });
    for (const [name, value] of [
      ['kind', this.kind],
      ['q', this.query],
      ['sort', this.table.sort === 'index' ? '' : this.table.sort],
    ])
      if (value) asked.set(name, value);
    return asked;
  }

  #first(changes) {
    this.table.page = 1;
    return this.#change(changes);
  }

  #all() {
    $('#differences-q').value = '';
    return this.#first({ kind: '', query: '' });
  }

  #change(changes) {
    Object.assign(this, changes);
    const { sort, page } = this.table;
    url.set({ kind: this.kind, q: this.query, sort: sort === 'index' ? '' : sort, page: page === 1 ? '' : page });
    this.#paintKinds();
    return this.refresh();
  }

  /** The counts of the table's own answer where there is one: everything in this panel is of one time. */
  #paintKinds() {
    const counts = this.last ?? this.answer.differences.find(({ run }) => run === this.other);
    const button = (kind, text, count) =>
      h(
        'button',
        {
          type: 'button',
          'data-kind': kind,
          'aria-pressed': String(this.kind === kind),
          onclick: () => this.#first({ kind }),
          disabled: !count && this.kind !== kind,
        },
        kind ? kindMark(kind) : null,
        text,
        h('b', {}, number(count, 0)),
      );
    fill(
      $('#kinds'),
      button('', 'All', counts.differing),
      DIFFERENCE_TYPES.map((kind) => button(kind, TITLES[kind], counts.counts[kind])),
    );
    const base = this.answer.runs[0].id;
    $('#kind-help').textContent = this.kind
      ? `${TITLES[this.kind]}: ${kindText(this.answer.kinds[this.kind], `run ${base}`, `run ${this.other}`)}.`
      : accountText(counts, base, this.other);
  }

  #paint(answered) {
    this.last = answered;
    this.#paintKinds();
    const filtered = this.kind || this.query;
    const all = filtered ? answered.total : answered.count;
    $('#differences-count').textContent =
      `${filtered ? `${number(answered.count, 0)} of ` : ''}${plural(all, 'job')} ` +
      `${all === 1 ? 'differs' : 'differ'} between run ${this.answer.runs[0].id} and run ${this.other}`;
    const pair = this.answer.runs.filter(({ id }, i) => !i || id === this.other);
    const late = lateText(pair, answered.at_ms);
    const [title, why] = nothingText(answered.accounts, { late, sameTrace: this.answer.shared.same_trace });
    const none = filtered
      ? empty('No matching jobs', 'The search and the filter leave out all jobs.', [
          'Show all differences',
          () => this.#all(),
        ])
      : empty(title, why, ['Compare other runs', '/compare/']);
    this.table.paint(answered.rows, { page: answered.page, count: answered.count, none });
  }
}

/** anyEnd: ids of the runs whose completed jobs have ended in any way; metrics: the table of metrics. */
export function columnsOf(base, other, span, { anyEnd, metrics }) {
  const hint = `Run ${other} minus run ${base}`;
  const change = (key, title, name, unit) => ({
    key,
    title,
    number: true,
    hint,
    cell: (row) => changeText(row, name, unit),
  });
  const changeOf = (key, metric) => ({
    ...change(key, metric.title, metric.key, metric.unit),
    hint: `${metric.definition} ${hint}.`,
  });
  return [
    { key: 'index', title: 'Job', cell: (row) => [row.id, h('span', { class: 'why small' }, row.model)] },
    {
      title: 'Difference',
      class: 'nowrap',
      cell: (row) => row.kinds.map((kind) => h('span', { class: 'kind' }, kindMark(kind), kindWord(kind))),
    },
    { title: `Run ${base}`, class: 'nowrap', cell: (row) => state(row.base, anyEnd.has(base)) },
    { title: `Run ${other}`, class: 'nowrap', cell: (row) => state(row.other, anyEnd.has(other)) },
    {
      title: `Time: run ${base} above, run ${other} below`,
      class: 'when',
      wide: true,
      cell: (row) => when(row, span()),
    },
    change('start', 'Start', 'start_ms', 'ms'),
    change('finish', 'Finish', 'finish_ms', 'ms'),
    changeOf('jct', metrics.get('jct_ms')),
    changeOf('utility', metrics.get('utility')),
  ];
}

/** Cells of the state of a job in a run; anyEnd: its completed jobs have ended in any way. */
export function state(job, anyEnd) {
  const { state: name, start_ms: start } = job;
  const end = endOf(job);
  const times = start === null ? null : `${clock(start)} – ${end === null ? 'open' : clock(end)}`;
  return [
    stateMark(anyEnd && name === 'completed' ? 'ended' : name),
    times ? h('span', { class: 'why small' }, times) : null,
  ];
}

/** Finish, or the end of the work of a job that was rejected or is unfinished; null while it is not known. */
const endOf = ({ finish_ms: finish, stopped_ms: stopped }) => finish ?? stopped;

/** Two bars on one axis, in the colour of the row's first kind. */
function when({ base, other, kinds }, span) {
  const bar = (job, name) => {
    const at = place(job.start_ms, endOf(job) ?? span[1], span);
    return h(
      'span',
      { class: 'time-strip' },
      at
        ? h('i', {
            class: `${name} ${name === 'before' ? '' : `job-${KIND_COLORS[kinds[0]]}`}`,
            css: { left: `min(${at[0]}%, 100% - 3px)`, width: `${Math.min(at[1], 100 - at[0])}%` },
          })
        : null,
    );
  };
  return [bar(base, 'before'), bar(other, 'after')];
}

function changeText(row, name, unit) {
  const [a, b] = [row.base[name], row.other[name]];
  return a === null || b === null ? '–' : deltaText(b - a, unit);
}
