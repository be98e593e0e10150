// The table of metrics: one row per metric, one column per run, each compared with the baseline.

import { fill, h } from '../ui/dom.js';
import { empty, table } from '../ui/data-table.js';
import { statusMark } from '../ui/labels/state-mark.js';
import { term } from '../ui/labels/term.js';
import { DOWN, toolbar } from '../ui/toolbar.js';
import { valueText } from '../core/metric-table.js';
import { runLabel } from '../core/run-info.js';
import { plural, provedShare } from '../util/format.js';
import { url } from '../ui/address/query.js';
import { addressOf, changeText, inFull, same, withBase } from './comparison.js';

const MAX_COLUMNS = 6; // of runs on paper; more are wrapped

const WORDS = { higher: '↑ higher', lower: '↓ lower' };
const SENTENCES = { higher: 'Higher is better.', lower: 'Lower is better.' };

/** A mark in a run's colour and dash. */
export function runMark(position) {
  return h('i', { class: `swatch run-mark job-${position % 8}`, 'aria-hidden': 'true' });
}

/**
 * Content of the cell of a value, with its difference from the base below it.
 * cell: {value, delta, relative, verdict, best, ranked, about, why};
 * `about`: what a proved share is a share of; `why`: the reason for a missing value or rank. best: the mark of the best
 * value; '' marks none. silent: whether the head of the column says that its values are not ranked.
 */
export function comparedCell(cell, unit, { isBase, best, silent = false }) {
  const text = isBase || (silent && cell.ranked === false) ? '' : changeText(cell, unit);
  const first = Boolean(best) && cell.best;
  const value = cell.about ? provedShare(cell.value) : valueText(cell.value, unit);
  return [
    first ? h('span', { class: 'mark best-mark' }, best) : null, // before the value, so that the values are aligned
    h('span', { class: first ? 'best' : null }, value),
    cell.about ? h('span', { class: 'why small' }, `of ${cell.about}`) : null,
    cell.why ? h('span', { class: 'why small' }, cell.why) : null,
    text ? h('span', { class: `delta ${cell.verdict ?? ''}` }, text.replaceAll(' %', '\u00a0%')) : null,
  ];
}

/** For each run: whether most of its values are not ranked, so that the head of its column states it once. */
function unranked(runs, rows, cellOf) {
  return runs.map((_, i) => {
    const given = rows.map((row) => cellOf(row, i)).filter(({ value }) => value !== null);
    return i > 0 && given.filter(({ ranked }) => ranked === false).length > given.length / 2;
  });
}

/**
 * A column for each run. cellOf(row, i): of the API; unit(row); tools: whether the head has links that change the runs.
 */
function runColumns(answer, rows, { cellOf, unit, tools = false }) {
  const silent = unranked(answer.runs, rows, cellOf);
  const best = answer.runs.length > 2 ? 'best' : '';
  return answer.runs.map((run, i) => ({
    title: runLabel(run),
    heading: [
      h(
        'span',
        { class: 'run-name' },
        i < answer.in_full.length ? runMark(i) : null,
        h('a', { href: `/runs/${run.id}/`, title: `${run.name}, on ${run.cluster}, seed ${run.seed}` }, runLabel(run)),
      ),
      tools ? runTools(answer, i) : null,
      silent[i] ? h('span', { class: 'why small' }, 'not ranked') : null,
    ],
    number: true,
    headClass: i === 0 ? 'run-head base' : 'run-head',
    class: i === 0 ? 'base' : null,
    cell: (row) => comparedCell(cellOf(row, i), unit(row), { isBase: i === 0, best, silent: silent[i] }),
  }));
}

/** The columns of runs are equally wide, whatever their names are. */
const share = (made, runs) => made.style.setProperty('--runs', String(runs.length));

/** State and edits of a run, and links that change what is compared. */
function runTools(answer, i) {
  const ids = answer.runs.map((run) => run.id);
  const run = answer.runs[i];
  const others = ids.filter((id) => id !== run.id);
  return h(
    'span',
    { class: 'tools' },
    run.status === 'finished' ? null : statusMark(run),
    run.edits.length
      ? h('span', { class: 'muted', title: run.edits.join('\n') }, plural(run.edits.length, 'edit'))
      : null,
    i === 0 ? h('span', { class: 'mark' }, 'baseline') : link(withBase(ids, run.id), 'make baseline'),
    i >= answer.in_full.length ? link(inFull(ids, run.id, answer.most.in_full), 'compare in full') : null,
    ids.length > 2 ? link(others, 'remove') : null,
  );
}

/** A link to other runs. The view of the page may change after it was made, so it reads the address when it is used. */
function link(ids, text) {
  const update = (event) => (event.currentTarget.href = addressOf(ids, location.search));
  return h('a', { href: addressOf(ids, location.search), onclick: update, onauxclick: update }, text);
}

/** The table; the number of rows that are hidden because all runs have the same value. */
export function paintMetricsTable(element, answer, { explained = false, onlyDifferent = false } = {}) {
  const known = answer.metrics.filter((row) => row.values.some(({ value, why }) => value !== null || why));
  const different = known.filter((row) => !same(row));
  const rows = onlyDifferent ? different : known;
  const columns = [
    { title: 'Metric', rowHead: true, cell: (row) => metricName(row, explained) },
    {
      title: 'Direction',
      headClass: 'way',
      class: 'muted nowrap way',
      cell: ({ direction }) => WORDS[direction] ?? '–',
    },
    ...runColumns(answer, rows, { cellOf: ({ values }, i) => values[i], unit: ({ unit }) => unit, tools: true }),
  ];
  const made = table(columns, rows, {
    className: answer.runs.length > MAX_COLUMNS ? 'metrics wrapped' : 'metrics',
    frozen: true,
    cards: false,
    rowProperties: ({ key }) => ({ 'data-metric': key }),
  });
  share(made, answer.runs);
  toolbar(made.querySelector('tbody'), { controls: 'button.term', keys: DOWN }); // the terms are one tab stop
  const none = known.length ? 'All metrics have the same value in all runs.' : 'No run has metrics yet.';
  fill(element, made, rows.length ? null : h('p', { class: 'muted' }, none));
  return onlyDifferent ? known.length - different.length : 0;
}

function metricName(row, explained) {
  const [way] = WORDS[row.direction] ?? [];
  return [
    h(
      'span',
      { class: 'named' },
      term(row.title, row),
      way ? h('span', { class: 'way-short', 'aria-hidden': 'true' }, ` ${way}`) : null,
    ),
    explained ? h('span', { class: 'help' }, row.definition) : null,
  ];
}

const TITLES = { model: 'Model', size: 'Size', site: 'Site' };

const NOTES = {
  model: 'Jobs are grouped by model.',
  size:
    'Jobs are grouped by the GPUs of all requested workers; workers count as one GPU each if the ' +
    'trace has no GPU counts.',
  site:
    'Jobs are grouped by the site of their workers in each run, so a row can count different jobs in ' +
    'different runs.',
};

export const BREAKDOWNS = Object.keys(TITLES);

const JOBS_HINT = 'Number of jobs in each run, in the order of the columns; one number if all are equal';

/** The table of totals of parts of the jobs: by model, by size or by site. */
export class Breakdown {
  /** by and metric are the page's; onChange({by, metric}). */
  constructor(panel, { by, metric, onChange }) {
    this.panel = panel;
    this.by = by;
    this.metric = metric;
    const select = panel.querySelector('select');
    const change = (changes) => {
      Object.assign(this, changes);
      onChange(this);
      this.paint(this.answer);
    };
    select.addEventListener('change', () => change({ metric: select.value }));
    for (const button of panel.querySelectorAll('[data-by]'))
      button.addEventListener('click', () => change({ by: button.dataset.by }));
  }

  paint(answer) {
    this.answer = answer;
    if (this.metric && !answer.grouped.includes(this.metric)) {
      url.refuse('figure', `must be one of ${answer.grouped.join(', ')}`, 'The first metric is shown.');
      this.metric = null;
    }
    const metrics = answer.grouped.map((key) => answer.metrics.find((row) => row.key === key));
    const { key, title, unit, direction, definition } =
      metrics.find((metric) => metric.key === this.metric) ?? metrics[0];
    const option = (metric) => h('option', { value: metric.key, selected: metric.key === key }, metric.title);
    fill(this.panel.querySelector('select'), metrics.map(option));
    for (const button of this.panel.querySelectorAll('[data-by]'))
      button.setAttribute('aria-pressed', String(button.dataset.by === this.by));
    const full = { ...answer, runs: answer.runs.slice(0, answer.in_full.length) };
    const rows = answer.groups[this.by];
    const columns = [
      { title: TITLES[this.by], rowHead: true, cell: (row) => row.name },
      { title: 'Jobs', number: true, hint: JOBS_HINT, cell: (row) => jobs(row.jobs) },
      ...runColumns(full, rows, { cellOf: (row, i) => row[key][i], unit: () => unit }),
    ];
    const made = table(columns, rows, { className: 'metrics', frozen: true, cards: false });
    share(made, full.runs);
    fill(
      this.panel.querySelector('#breakdown'),
      rows.length
        ? made
        : empty('No jobs have arrived yet', 'The breakdown appears as jobs arrive.', [
            'Choose other runs',
            '/compare/',
          ]),
    );
    this.panel.querySelector('#breakdown-note').textContent =
      `${title}: ${definition} ${SENTENCES[direction]} ${NOTES[this.by]}`;
  }
}

const jobs = (counts) => (new Set(counts).size === 1 ? counts[0] : counts.join(' / ')).toLocaleString('en-US');
