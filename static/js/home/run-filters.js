// Filters of the list of runs: a search, a state, a scheduler, and cards or a table; kept in the URL.

import { $, $$, debounce, fill, h } from '../ui/dom.js';
import { tellRefused, url } from '../ui/address/query.js';
import { number } from '../util/format.js';

const STATUSES = ['running', 'queued', 'paused', 'finished', 'cancelled', 'failed'];
const NAMES = ['q', 'status', 'scheduler', 'view'];
const VIEW = 'runs-view'; // in the browser's storage

export class RunFilters {
  /** section: the card of the runs; onChange() after another choice. */
  constructor(section, onChange) {
    this.section = section;
    this.onChange = onChange;
    this.chosen = Object.fromEntries(NAMES.map((name) => [name, url.get(name) ?? '']));
    this.chosen.status = url.choice('status', STATUSES, '', 'Runs in every state are listed.');
    this.chosen.view = url.choice('view', ['cards', 'table'], '', 'The last chosen view is shown.');
    this.chosen.view ||= localStorage.getItem(VIEW) ?? 'cards';
    const search = $('#runs-q', section);
    search.value = this.chosen.q;
    search.addEventListener(
      'input',
      debounce(() => this.#set('q', search.value.trim()), 250),
    );
    $('#runs-scheduler', section).addEventListener('change', ({ target }) => this.#set('scheduler', target.value));
    for (const button of $$('[data-view]', section))
      button.addEventListener('click', () => {
        localStorage.setItem(VIEW, button.dataset.view);
        this.#set('view', button.dataset.view);
      });
    this.#views();
  }

  get view() {
    return this.chosen.view === 'table' ? 'table' : 'cards';
  }

  /** True if some runs are left out. */
  get narrow() {
    return NAMES.slice(0, 3).some((name) => this.chosen[name]);
  }

  /** The query of the list. */
  query(size) {
    const asked = NAMES.slice(0, 3).filter((name) => this.chosen[name]);
    return String(new URLSearchParams([...asked.map((name) => [name, this.chosen[name]]), ['size', size]]));
  }

  /** Shows the counts of an answer: states as buttons, schedulers as a menu. */
  paint({ by_status: byStatus, by_scheduler: byScheduler, scheduler_titles: titles }) {
    const { status, scheduler } = this.chosen;
    fill(
      $('#runs-by-status', this.section),
      STATUSES.filter((name) => byStatus[name] || name === status).map((name) =>
        h(
          'button',
          {
            type: 'button',
            class: 'state quiet',
            'data-state': name,
            'aria-pressed': String(name === status),
            onclick: () => this.#set('status', name === this.chosen.status ? '' : name),
          },
          `${number(byStatus[name], 0)} ${name}`,
        ),
      ),
    );
    const names = [...new Set([...Object.keys(byScheduler), ...(scheduler ? [scheduler] : [])])];
    const title = (name) => titles[name] ?? name;
    fill(
      $('#runs-scheduler', this.section),
      h('option', { value: '' }, 'All schedulers'),
      names
        .sort((a, b) => title(a).localeCompare(title(b), 'en'))
        .map((name) =>
          h(
            'option',
            { value: name, selected: name === scheduler },
            `${title(name)} (${number(byScheduler[name] ?? 0, 0)})`,
          ),
        ),
    );
    this.#views();
  }

  /** Drops the scheduler of the address that the server does not know; false if there is none. */
  dropScheduler(message) {
    if (!this.chosen.scheduler || this.chosen.scheduler !== url.get('scheduler')) return false;
    tellRefused(message, 'Runs of all schedulers are listed.');
    this.#set('scheduler', '');
    return true;
  }

  #set(name, value) {
    if (this.chosen[name] === value) return;
    this.chosen[name] = value;
    const kept = NAMES.filter((one) => this.chosen[one] && !(one === 'view' && this.view === 'cards'));
    const query = new URLSearchParams(kept.map((one) => [one, this.chosen[one]]));
    history.replaceState(null, '', query.size ? `?${query}` : location.pathname);
    this.#views();
    this.onChange(name);
  }

  #views() {
    for (const button of $$('[data-view]', this.section))
      button.setAttribute('aria-pressed', String(button.dataset.view === this.view));
  }
}
