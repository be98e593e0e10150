// The table of figures: one row a figure, one column a run, each told against the base with the direction that is better.

import { fill, h } from '../lib/dom.js';
import { empty } from '../lib/list.js';
import { address, deltaText, inFull, relativeText, valueText, withBase } from '../lib/compare.js';

const WORDS = { higher: '↑ higher', lower: '↓ lower' };

/** A mark in a run's colour and dash. */
export function runMark(position) {
  return h('i', { class: `swatch job-${position % 8}`, 'aria-hidden': 'true' });
}

/** A value with its difference to the base below it. cell: {value, delta, relative, verdict, best} */
export function comparedCell(cell, unit, { isBase, best }) {
  const change = [deltaText(cell.delta, unit), relativeText(cell.relative)].filter(Boolean).join(', ');
  const told = isBase || !change ? null : h('span', { class: `delta ${cell.verdict ?? ''}` }, cell.delta === 0 ? 'same' : `${change}${cell.verdict && cell.verdict !== 'same' ? ` ${cell.verdict}` : ''}`);
  return h('td', { class: 'number' }, h('span', { class: best && cell.best ? 'best' : null }, valueText(cell.value, unit)), best && cell.best ? h('span', { class: 'mark' }, 'best') : null, told);
}

/** The heads of the runs' columns. */
export function runHeads(answer, { tools = false } = {}) {
  const ids = answer.runs.map((run) => run.id);
  return answer.runs.map((run, i) => h('th', { scope: 'col', class: 'number run-head' },
    h('span', { class: 'nowrap' }, i < answer.in_full.length ? runMark(i) : null, h('a', { href: `/runs/${run.id}/`, title: `${run.name}, on ${run.cluster}, seed ${run.seed}` }, `${run.title} · ${run.id}`)),
    tools ? h('span', { class: 'tools' }, run.status === 'finished' ? null : h('span', { class: 'state', 'data-state': run.status }, run.status), i === 0 ? h('span', { class: 'mark' }, 'base') : link(withBase(ids, run.id), 'make base'),
      i >= answer.in_full.length ? link(inFull(ids, run.id, answer.most.in_full), 'in full') : null, ids.length > 2 ? link(ids.filter((id) => id !== run.id), 'remove') : null) : null));
}

const link = (ids, text) => h('a', { href: address(ids) }, text);

export function paintFigures(element, answer, explained) {
  const many = answer.runs.length > 2;
  const head = h('tr', {}, h('th', { scope: 'col' }, 'Figure'), h('th', { scope: 'col', class: 'way' }, 'Better'), runHeads(answer, { tools: true }));
  const rows = answer.metrics.filter((row) => row.values.some(({ value }) => value !== null)).map((row) => h('tr', { 'data-figure': row.key },
    h('th', { scope: 'row', title: row.help }, row.title, row.better ? h('span', { class: 'way-short', 'aria-hidden': 'true' }, ` ${WORDS[row.better][0]}`) : null, explained ? h('span', { class: 'help' }, row.help) : null),
    h('td', { class: 'muted nowrap way' }, WORDS[row.better] ?? '–'),
    row.values.map((cell, i) => comparedCell(cell, row.unit, { isBase: i === 0, best: many }))));
  fill(element, h('table', { class: 'figures' }, h('thead', {}, head), h('tbody', {}, rows)));
}

const GROUPED = [['mean_jct_ms', 'Mean JCT', 'ms', 'of completed jobs; lower is better'], ['mean_slowdown', 'Mean slowdown', 'x', 'of completed jobs; lower is better'],
  ['completed', 'Completed', '', 'jobs; higher is better'], ['rejected', 'Rejected', '', 'jobs; lower is better'], ['utility', 'Total utility', '', 'higher is better']];
const NOTES = { model: 'Groups by the model that a job trains.', size: 'Groups by the GPUs of all the workers that a job asks for; a worker counts as one GPU where the trace names none.',
  site: 'Groups by where the workers of a job stand in each run; so a group need not hold the same jobs in two runs.' };

export class Groups {
  /** by and figure are the page's; onChange({by, figure}). */
  constructor(panel, { by, figure, onChange }) {
    this.panel = panel;
    this.by = by in NOTES ? by : 'model';
    this.figure = GROUPED.some(([key]) => key === figure) ? figure : 'mean_jct_ms';
    const select = panel.querySelector('select');
    fill(select, GROUPED.map(([key, title]) => h('option', { value: key, selected: key === this.figure }, title)));
    const change = (changes) => {
      Object.assign(this, changes);
      onChange(this);
      this.paint(this.answer);
    };
    select.addEventListener('change', () => change({ figure: select.value }));
    for (const button of panel.querySelectorAll('[data-by]')) button.addEventListener('click', () => change({ by: button.dataset.by }));
  }

  paint(answer) {
    this.answer = answer;
    const [key, title, unit, note] = GROUPED.find(([name]) => name === this.figure);
    for (const button of this.panel.querySelectorAll('[data-by]')) button.setAttribute('aria-pressed', String(button.dataset.by === this.by));
    const full = { ...answer, runs: answer.runs.slice(0, answer.in_full.length) };
    const many = full.runs.length > 2;
    const head = h('tr', {}, h('th', { scope: 'col' }, 'Group'), h('th', { scope: 'col', class: 'number' }, 'Jobs'), runHeads(full));
    const rows = answer.groups[this.by].map((row) => h('tr', {}, h('th', { scope: 'row' }, row.name), h('td', { class: 'number' }, jobs(row.jobs)),
      row[key].map((cell, i) => comparedCell(cell, unit, { isBase: i === 0, best: many }))));
    fill(this.panel.querySelector('#groups'), !rows.length ? empty('No job has arrived yet', 'Groups appear as jobs arrive.') : h('table', { class: 'figures' }, h('thead', {}, head), h('tbody', {}, rows)));
    this.panel.querySelector('#groups-note').textContent = `${title} ${note}. ${NOTES[this.by]}`;
  }
}

const jobs = (counts) => (new Set(counts).size === 1 ? counts[0] : counts.join(' / ')).toLocaleString('en-US');
