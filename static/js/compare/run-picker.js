// The list of runs to choose from: searched by the server; selected runs stay selected during a search.

import { get } from '../core/api.js';
import { metricTable } from '../core/metric-table.js';
import { address } from './comparison.js';
import { $, $$, debounce, fill, h } from '../ui/dom.js';
import { number, wall } from '../util/format.js';
import { empty, firstRun, shown, table } from '../ui/data-table.js';
import { inCharge } from '../core/phases.js';
import { statusMark } from '../ui/labels/state-mark.js';

const PAGE_SIZE = 50;
const MAX_RUNS = 24;

export class ChooseRuns {
  constructor(ids) {
    this.ids = [...ids];
    this.known = new Map(); // id -> row
    const search = $('#choose-q');
    search.addEventListener(
      'input',
      debounce(() => this.load(), 250),
    );
  }

  async load() {
    const query = $('#choose-q').value.trim();
    const request = (this.request = get(`/api/runs/?${new URLSearchParams({ size: String(PAGE_SIZE), q: query })}`));
    try {
      const [page, metrics] = await Promise.all([request, metricTable()]);
      this.utilityTitle = metrics.get('total_utility').title;
      if (request !== this.request) return;
      for (const run of page.results) this.known.set(run.id, run);
      this.rows = page.results;
      $('#choose-count').textContent =
        shown(page.results.length, page.count, page.count === 1 ? 'run' : 'runs') +
        (page.results.length < page.count ? '; search for others' : '');
      const again = () => {
        $('#choose-q').value = '';
        this.load();
      };
      if (page.count) this.#paint();
      else
        fill(
          $('#choose-list'),
          query
            ? empty('No matching runs', 'The search finds runs by name, trace or scheduler.', [
                'Clear the search',
                again,
              ])
            : empty('No runs yet', 'A comparison shows what schedulers do differently with the same jobs.', firstRun()),
        );
    } catch (error) {
      fill($('#choose-list'), h('p', { class: 'error', role: 'alert' }, error.message));
    }
    this.#chosen();
  }

  #toggle(id, on) {
    this.ids = on ? [...this.ids, id] : this.ids.filter((other) => other !== id);
    this.#chosen();
    this.#order();
  }

  #chosen() {
    const count = this.ids.length;
    const charge = ({ schedulers, began_at: beganAt }) => inCharge(schedulers, beganAt);
    const name = (id) => (this.known.has(id) ? `${charge(this.known.get(id))} · ${id}` : `run ${id}`);
    const chips = this.ids.map((id, i) =>
      h(
        'button',
        {
          type: 'button',
          class: 'pick-chip',
          title: 'Remove from the list',
          'aria-label': `Remove ${name(id)}`,
          onclick: () => {
            this.#toggle(id, false);
            this.#paint();
          },
        },
        name(id),
        i === 0 ? h('span', { class: 'mark' }, 'baseline') : null,
        ' ×',
      ),
    );
    const wrong =
      count < 2
        ? `Select ${2 - count} more.`
        : count > MAX_RUNS
          ? `At most ${MAX_RUNS} runs; remove ${number(count - MAX_RUNS, 0)}.`
          : '';
    fill(
      $('#chosen'),
      chips,
      h(
        'button',
        {
          type: 'button',
          class: 'primary',
          id: 'compare',
          disabled: Boolean(wrong),
          onclick: () => location.assign(address(this.ids)),
        },
        count > 1 ? `Compare ${number(count, 0)} runs` : 'Compare',
      ),
      wrong ? h('span', { class: 'muted small' }, wrong) : null,
    );
  }

  #order() {
    for (const cell of $$('[data-order]')) cell.textContent = this.#place(Number(cell.dataset.order));
  }

  #place(id) {
    const at = this.ids.indexOf(id);
    return at < 0 ? '' : at === 0 ? 'baseline' : String(at + 1);
  }

  #paint() {
    const box = (run) => {
      const input = h('input', {
        type: 'checkbox',
        id: `pick-${run.id}`,
        'aria-label': `Compare run ${run.id}, ${run.scenario_name}`,
        onchange: (event) => this.#toggle(run.id, event.target.checked),
      });
      input.checked = this.ids.includes(run.id);
      return h(
        'span',
        { class: 'nowrap' },
        input,
        ' ',
        h('span', { class: 'muted small', 'data-order': run.id }, this.#place(run.id)),
      );
    };
    fill(
      $('#choose-list'),
      table(
        [
          { title: '', cell: box },
          {
            title: 'Run',
            cell: (run) => h('label', { for: `pick-${run.id}`, class: 'ink' }, `${run.id} · ${run.scenario_name}`),
          },
          { title: 'State', cell: statusMark },
          { title: 'Scheduler', cell: (run) => inCharge(run.schedulers, run.began_at) },
          { title: 'Trace', cell: (run) => run.trace_name },
          { title: 'Jobs', number: true, cell: (run) => number(run.job_count, 0) },
          { title: this.utilityTitle, number: true, cell: (run) => number(run.metrics?.total_utility) },
          { title: 'Started', cell: (run) => h('span', { class: 'nowrap muted' }, wall(run.created_at)) },
        ],
        this.rows ?? [],
      ),
    );
  }
}
