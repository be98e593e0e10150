// The table of jobs: searched, filtered, sorted and paged by the server, its state kept in the URL.

import { reasonLabel } from './drawer/reason-label.js';
import { hasSideColumn } from './side-column.js';
import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { tellRefused, url } from '../ui/address/query.js';
import { modelsOf, stateWord, statesOf } from '../models/index.js';
import { DataTable, empty, rowsOfPage } from '../ui/data-table.js';
import { sharedText } from '../ui/column-choice.js';
import { $, debounce, fill, h, setText } from '../ui/dom.js';
import { jobMark } from '../ui/labels/job-mark.js';
import { clock, duration, number, plural } from '../util/format.js';
import { repeatAfter } from '../util/poll.js';

const PAGE_SIZE = rowsOfPage(25);
// others begin hidden there
const IN_SIDE = new Set(['id', 'state', 'arrived_ms', 'completed_ms', 'jct_ms', 'reason']);
const who = (info) => [
  { key: 'id', title: 'Job', cell: (row) => h('span', { title: row.id }, row.id) },
  {
    name: 'state',
    title: 'State',
    cell: ({ state, outcome }) => (state === null ? '–' : jobMark(state, stateWord(info, state), outcome)),
  },
];
const utilityText = (value) => (value > 0 && number(value) === '0' ? '≈ 0' : number(value));
const FORMATS = {
  text: (value) => value ?? '–',
  number: (value) => number(value),
  clock: (value) => clock(value),
  duration: (value) => duration(value),
  utility: (value, { state }) => (state === 'completed' ? utilityText(value) : '–'),
};
/** once: whether a reason that all rows share is stated below the table, instead of in each row. */
const reasonColumn = (once) => ({
  name: 'reason',
  title: 'Reason',
  wide: true, // a live cluster gives a sentence
  once,
  cell: (row) => reasonOf(row),
});

/** Reason why the job is in its state; its whole text is also a hint, where the column is narrow. */
function reasonOf(row) {
  const text = row.reason ?? (row.code ? reasonLabel(row.code) : '–');
  return h('span', { title: text }, text);
}

/** The columns that the server declares; jobs of a real cluster end in whatever way. */
const served = (info) =>
  info.job_columns.map(({ key, title, format }) => ({
    key,
    title: key === 'completed_ms' && stateWord(info, 'completed') !== 'completed' ? 'End' : title,
    number: format !== 'text',
    cell: (row) => FORMATS[format](row[key], row),
  }));

export class JobsTable {
  /** onPick(job); info: the run's static description; then(): the time shown, null for the newest. */
  constructor(runId, onPick, { info, then, ended = false }) {
    this.runId = runId;
    this.info = info;
    this.then = then;
    this.selected = null;
    // room for the jobs that are still to come: what follows does not move
    $('#jobs').style.setProperty('--rows', String(Math.min(PAGE_SIZE, info.ids.length)));
    const states = statesOf(info);
    this.query = url.get('q') ?? '';
    this.state = url.choice('state', states, '', 'Jobs in every state are listed.');
    const columns = [
      ...who(info),
      ...modelsOf(info).flatMap(({ jobColumns }) => jobColumns),
      ...served(info),
      (this.reason = reasonColumn(ended)),
    ].map((column) => ({ ...column, spare: hasSideColumn() && !IN_SIDE.has(column.key ?? column.name) }));
    const keys = columns.flatMap(({ key }) => (key ? [key, `-${key}`] : []));
    this.table = new DataTable($('#jobs'), {
      name: 'jobs',
      size: PAGE_SIZE,
      sort: url.choice('sort', ['index', '-index', ...keys], 'index', 'Jobs are listed in order of arrival.'),
      pages: $('#jobs-pager'),
      columns,
      keyOf: (row) => row.index,
      selected: (row) => row.index === this.selected,
      onPick: (row, more) => onPick(row.index, more),
      onChange: () => this.#change({}),
    });
    this.table.page = url.number('page', { from: 1, instead: 'The first page of jobs is shown.' }) ?? 1;
    this.#fields(states);
  }

  #fields(states) {
    const [search, state] = [$('#jobs-q'), $('#jobs-state')];
    fill(
      state,
      h('option', { value: '' }, 'All states'),
      states.map((name) => h('option', { value: name }, stateWord(this.info, name))),
    );
    search.value = this.query;
    state.value = this.state;
    const first = (changes) => {
      this.table.page = 1;
      this.#change(changes);
    };
    search.addEventListener(
      'input',
      debounce(() => first({ query: search.value }), 250),
    );
    state.addEventListener('change', () => first({ state: state.value }));
  }

  /** Shows the newest rows; at most one request at a time. */
  async refresh() {
    if (this.loading) return void (this.again = true);
    this.loading = true;
    try {
      const { page, sort } = this.table;
      const asked = new URLSearchParams({
        page: String(page),
        size: String(PAGE_SIZE),
        sort,
        q: this.query,
        state: this.state,
      });
      const then = this.then();
      if (then !== null) asked.set('at_ms', then);
      this.#paint(await get(`/api/runs/${this.runId}/jobs/?${asked}`), then);
    } catch (error) {
      if (error.status === 400 && this.table.page > 1) return this.#first(error);
      logError(error);
      for (const place of ['#jobs-count', '#jobs-shared']) setText($(place), ''); // those of another answer
      fill($('#jobs-pager'));
      fill($('#jobs'), h('p', { class: 'error', role: 'alert' }, error.message));
      repeatAfter(error, () => this.refresh());
    } finally {
      this.loading = false;
      if (this.again) {
        this.again = false;
        this.refresh();
      }
    }
  }

  /** Shows the first page instead of one that does not exist, as after a step back to a time with fewer jobs. */
  #first(error) {
    if (!this.painted) tellRefused(error.message, 'The first page of jobs is shown.');
    this.table.page = 1;
    this.again = true;
  }

  select(job) {
    this.selected = job;
    if (this.painted) this.table.again();
  }

  #all() {
    $('#jobs-q').value = $('#jobs-state').value = '';
    this.table.page = 1;
    this.#change({ query: '', state: '' });
  }

  #change(changes) {
    Object.assign(this, changes);
    const { page, sort } = this.table;
    url.set({ q: this.query, state: this.state, sort: sort === 'index' ? '' : sort, page: page === 1 ? '' : page });
    return this.refresh();
  }

  #paint({ rows, page, count, total }, then) {
    this.painted = true;
    const filtered = this.query || this.state;
    const arrived = filtered ? `${number(count, 0)} of ${plural(total, 'arrived job')}` : plural(count, 'arrived job');
    const when = then === null ? 'latest state' : `state at ${clock(then)}`;
    const reason = this.reason.once ? sharedText(this.reason, rows) : null;
    $('#jobs-count').textContent = `${arrived}, ${when}`;
    // below the table: in the heading it would take a line of its own, and move the table
    setText($('#jobs-shared'), reason === null ? '' : `Reason of all ${plural(rows.length, 'row')}: ${reason}`);
    const none =
      filtered && total > 0
        ? empty('No job matches', 'The search and the state leave out all jobs.', ['Show all jobs', () => this.#all()])
        : empty('No job has arrived yet', 'Jobs appear here as they arrive.', ['Show the events', '#panel-events']);
    this.table.paint(rows, { page, count, none });
  }
}
