// The table of metrics: one row per metric, one column per run, each compared with the baseline.

import { fill, h } from '../ui/dom.js';
import { empty } from '../ui/data-table.js';
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
 * A value with its difference from the base below it. cell: {value, delta, relative, verdict, best, ranked, about,
 * why};
 * `about`: what a proved share is a share of; `why`: the reason for a missing value or rank. best: the mark of the best
 * value; '' marks none.
 */
export function comparedCell(cell, unit, { isBase, best }) {
  const text = isBase ? '' : changeText(cell, unit);
  const first = Boolean(best) && cell.best;
  const value = cell.about ? provedShare(cell.value) : valueText(cell.value, unit);
  return h(
    'td',
    { class: 'number' },
    first ? h('span', { class: 'mark best-mark' }, best) : null, // before the value, so that the values are aligned
    h('span', { class: first ? 'best' : null }, value),
    cell.about ? h('span', { class: 'why small' }, `of ${cell.about}`) : null,
    cell.why ? h('span', { class: 'why small' }, cell.why) : null,
    text ? h('span', { class: `delta ${cell.verdict ?? ''}` }, text.replaceAll(' %', '\u00a0%')) : null,
  );
}

/** The heads of the runs' columns. */
export function runHeads(answer, { tools = false } = {}) {
  const ids = answer.runs.map((run) => run.id);
  return answer.runs.map((run, i) =>
    h(
      'th',
      { scope: 'col', class: 'number run-head' },
      h(
        'span',
        { class: 'nowrap' },
        i < answer.in_full.length ? runMark(i) : null,
        h('a', { href: `/runs/${run.id}/`, title: `${run.name}, on ${run.cluster}, seed ${run.seed}` }, runLabel(run)),
      ),
      tools
        ? h(
            'span',
            { class: 'tools' },
            run.status === 'finished' ? null : h('span', { class: 'state', 'data-state': run.status }, run.status),
            run.edits.length
              ? h('span', { class: 'muted', title: run.edits.join('\n') }, plural(run.edits.length, 'edit'))
              : null,
            i === 0 ? h('span', { class: 'mark' }, 'baseline') : link(withBase(ids, run.id), 'make baseline'),
            i >= answer.in_full.length ? link(inFull(ids, run.id, answer.most.in_full), 'compare in full') : null,
            ids.length > 2
              ? link(
                  ids.filter((id) => id !== run.id),
                  'remove',
                )
              : null,
          )
        : null,
    ),
  );
}

/** A link to other runs. The view of the page may change after it was made, so it reads the address when it is used. */
function link(ids, text) {
  const update = (event) => (event.currentTarget.href = addressOf(ids, location.search));
  return h('a', { href: addressOf(ids, location.search), onclick: update, onauxclick: update }, text);
}

/** The table; the number of rows that are hidden because all runs have the same value. */
export function paintFigures(element, answer, { explained = false, onlyDifferent = false } = {}) {
  const many = answer.runs.length > 2;
  const head = h(
    'tr',
    {},
    h('th', { scope: 'col' }, 'Metric'),
    h('th', { scope: 'col', class: 'way' }, 'Better'),
    runHeads(answer, { tools: true }),
  );
  const known = answer.metrics.filter((row) => row.values.some(({ value, why }) => value !== null || why));
  const different = known.filter((row) => !same(row));
  const rows = (onlyDifferent ? different : known).map((row) =>
    h(
      'tr',
      { 'data-figure': row.key },
      h(
        'th',
        { scope: 'row' },
        h(
          'span',
          { class: 'named' },
          term(row.title, row),
          row.direction
            ? h('span', { class: 'way-short', 'aria-hidden': 'true' }, ` ${WORDS[row.direction][0]}`)
            : null,
        ),
        explained ? h('span', { class: 'help' }, row.definition) : null,
      ),
      h('td', { class: 'muted nowrap way' }, WORDS[row.direction] ?? '–'),
      row.values.map((cell, i) => {
        const shown = comparedCell(cell, row.unit, { isBase: i === 0, best: many ? 'best' : '' });
        shown.dataset.run = runLabel(answer.runs[i]); // on paper, where it stands in the cell
        return shown;
      }),
    ),
  );
  const none = known.length ? 'All metrics have the same value in all runs.' : 'No run has metrics yet.';
  const body = h('tbody', {}, rows);
  toolbar(body, { controls: 'button.term', keys: DOWN }); // the terms are one tab stop
  fill(
    element,
    h('table', { class: answer.runs.length > MAX_COLUMNS ? 'figures wrapped' : 'figures' }, h('thead', {}, head), body),
    rows.length ? null : h('p', { class: 'muted' }, none),
  );
  return onlyDifferent ? known.length - different.length : 0;
}

const NOTES = {
  model: 'Jobs are grouped by model.',
  size:
    'Jobs are grouped by the GPUs of all requested workers; workers count as one GPU each if the ' +
    'trace has no GPU counts.',
  site:
    'Jobs are grouped by the site of their workers in each run, so a group can hold different jobs in ' +
    'different runs.',
};

export const GROUPINGS = Object.keys(NOTES);

export class Groups {
  /** by and figure are the page's; onChange({by, figure}). */
  constructor(panel, { by, figure, onChange }) {
    this.panel = panel;
    this.by = by;
    this.figure = figure;
    const select = panel.querySelector('select');
    const change = (changes) => {
      Object.assign(this, changes);
      onChange(this);
      this.paint(this.answer);
    };
    select.addEventListener('change', () => change({ figure: select.value }));
    for (const button of panel.querySelectorAll('[data-by]'))
      button.addEventListener('click', () => change({ by: button.dataset.by }));
  }

  paint(answer) {
    this.answer = answer;
    if (this.figure && !answer.grouped.includes(this.figure)) {
      url.refuse('figure', `must be one of ${answer.grouped.join(', ')}`, 'The first metric is shown.');
      this.figure = null;
    }
    const metrics = answer.grouped.map((key) => answer.metrics.find((row) => row.key === key));
    const { key, title, unit, direction, definition } =
      metrics.find((metric) => metric.key === this.figure) ?? metrics[0];
    const option = (metric) => h('option', { value: metric.key, selected: metric.key === key }, metric.title);
    fill(this.panel.querySelector('select'), metrics.map(option));
    for (const button of this.panel.querySelectorAll('[data-by]'))
      button.setAttribute('aria-pressed', String(button.dataset.by === this.by));
    const full = { ...answer, runs: answer.runs.slice(0, answer.in_full.length) };
    const many = full.runs.length > 2;
    const head = h(
      'tr',
      {},
      h('th', { scope: 'col' }, 'Group'),
      h(
        'th',
        {
          scope: 'col',
          class: 'number',
          title: 'Number of jobs in each run, in the order of the columns; one number if all are equal',
        },
        'Jobs',
      ),
      runHeads(full),
    );
    const rows = answer.groups[this.by].map((row) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, row.name),
        h('td', { class: 'number' }, jobs(row.jobs)),
        row[key].map((cell, i) => comparedCell(cell, unit, { isBase: i === 0, best: many ? 'best' : '' })),
      ),
    );
    fill(
      this.panel.querySelector('#groups'),
      !rows.length
        ? empty('No jobs have arrived yet', 'Groups appear as jobs arrive.', ['Choose other runs', '/compare/'])
        : h('table', { class: 'figures' }, h('thead', {}, head), h('tbody', {}, rows)),
    );
    this.panel.querySelector('#groups-note').textContent =
      `${title}: ${definition} ${SENTENCES[direction]} ${NOTES[this.by]}`;
  }
}

const jobs = (counts) => (new Set(counts).size === 1 ? counts[0] : counts.join(' / ')).toLocaleString('en-US');
