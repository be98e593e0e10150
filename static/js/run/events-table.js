// Table of events: filtered by the server, the newest first; a click on a row shows its time.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { $, fill, h, setText } from '../ui/dom.js';
import { eventTitle } from '../models/titles.js';
import { clock, number, plural } from '../util/format.js';
import { empty, rowsOfPage, table } from '../ui/data-table.js';
import { url } from '../ui/address/query.js';

const EVENT_TYPES = [
  ['', 'All types'],
  ['decided', 'Decisions'],
  ['decided/rejected', 'Decisions: rejected'],
  ['decided/preempted', 'Decisions: preempted'],
  ['decided/displaced', 'Decisions: displaced'],
  ['job_arrived', 'Arrivals'],
  ['job_completed', 'Completions'],
  ['plan_changed', 'Plans'],
  ['priced', 'Prices'],
  ['server_changed', 'Availability'],
  ['reserved', 'Reservations'],
  ['grouped', 'Groups'],
  ['regrouped', 'Regrouping decisions'],
];
const PAGE_SIZE = rowsOfPage(50);

export class EventsTable {
  /** onShow(row) moves the playhead to an event; onPick(job) opens the drawer. */
  constructor(runId, { onShow, onPick }) {
    this.runId = runId;
    this.onShow = onShow;
    this.onPick = onPick;
    this.rows = [];
    this.next = null;
    this.open = false;
    this.open = url.choice('events', ['1'], '', 'The list of events is closed.') === '1';
    const kinds = EVENT_TYPES.map(([value]) => value);
    this.kind = url.choice('kind', kinds, '', 'Events of all types are listed.');
    this.toggle = $('#events-open');
    this.select = $('#events-kind');
    this.job = $('#events-job');
    this.last = 0; // the newest event that the page knows
    this.newer = h('button', { type: 'button', onclick: () => this.#load(true) });
    fill(
      this.select,
      EVENT_TYPES.map(([value, text]) => h('option', { value, selected: value === this.kind }, text)),
    );
    this.select.addEventListener('change', () => this.#again({ kind: this.select.value }));
    this.toggle.addEventListener('click', () => this.#again({ open: !this.open }));
    this.#again({});
  }

  /** Filters by one job; null: all jobs. */
  of(job, name) {
    this.about = job;
    fill(
      this.job,
      job === null || job === undefined
        ? []
        : [
            h(
              'span',
              { class: 'chip' },
              `of ${name} `,
              h(
                'button',
                { type: 'button', class: 'quiet', title: 'Show the events of all jobs', onclick: () => this.of(null) },
                '×',
              ),
            ),
          ],
    );
    if (this.open) this.#load(true);
  }

  /** Opens the table and scrolls to it. */
  reveal() {
    if (!this.open) this.#again({ open: true });
    $('#panel-events').scrollIntoView({ block: 'nearest' });
    this.toggle.focus({ preventScroll: true });
  }

  /** Marks the event that the page shows. */
  at(row) {
    if ((row?.seq ?? null) === this.seq) return;
    this.seq = row?.seq ?? null;
    if (this.open && this.total !== undefined) this.#paint(this.total);
  }

  /** last: the newest event of the log; how many are newer than the list is stated beside it. */
  grown(last) {
    this.last = last;
    if (this.open && this.total !== undefined) this.#countNewer();
  }

  /** The button stays in place while its number grows, so that it can be clicked. */
  #countNewer() {
    const newer = Math.max(0, this.last - this.total);
    this.newer.hidden = !newer;
    setText(this.newer, `Show ${plural(newer, 'newer event')}`);
  }

  #again(changes) {
    Object.assign(this, changes);
    url.set({ events: this.open ? 1 : '', kind: this.kind });
    this.toggle.setAttribute('aria-expanded', String(this.open));
    this.toggle.textContent = this.open ? 'Hide' : 'Show';
    $('#events-body').hidden = !this.open;
    this.select.hidden = !this.open;
    if (this.open) this.#load(true);
  }

  async #load(restart) {
    if (restart) Object.assign(this, { rows: [], next: null });
    const [kind, decision = ''] = this.kind.split('/');
    const asked = new URLSearchParams({ kind, decision, size: PAGE_SIZE });
    if (this.about !== null && this.about !== undefined) asked.set('job', this.about);
    if (this.next) asked.set('before', this.next);
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      const answer = await get(`/api/runs/${this.runId}/events/table/?${asked}`);
      if (turn !== this.turn) return;
      this.rows.push(...answer.rows);
      this.next = answer.next;
      this.#paint(answer.total);
    } catch (error) {
      logError(error);
      fill($('#events'), h('p', { class: 'error', role: 'alert' }, error.message));
    }
  }

  #all() {
    this.select.value = this.kind = '';
    this.of(null); // loads again
  }

  #paint(total) {
    this.total = total;
    const more = this.next ? h('button', { type: 'button', onclick: () => this.#load(false) }, 'Earlier events') : null;
    const shown = plural(this.rows.length, 'event');
    const listed = `${shown} shown, newest first, up to event ${number(total, 0)} of the log`;
    fill(
      $('#events'),
      this.rows.length
        ? table(
            [
              { title: 'Event', number: true, cell: (row) => number(row.seq, 0) },
              {
                title: 'Time',
                number: true,
                cell: (row) =>
                  h(
                    'button',
                    { type: 'button', class: 'link', title: 'Show this time', onclick: () => this.onShow(row) },
                    h('span', { class: 'nowrap' }, clock(row.at_ms)),
                  ),
              },
              { title: 'Type', cell: (row) => h('span', { class: 'nowrap' }, eventTitle(row.kind)) },
              {
                title: 'Job',
                cell: (row) =>
                  row.id === null
                    ? ''
                    : h('button', { type: 'button', class: 'link', onclick: () => this.onPick(row.job) }, row.id),
              },
              { title: 'Description', wide: true, cell: (row) => row.text },
            ],
            this.rows,
            { selected: (row) => row.seq === this.seq },
          )
        : empty('No event matches', this.next ? 'in the newest part of the log' : 'in the whole log', [
            'Show all events',
            () => this.#all(),
          ]),
    );
    this.#countNewer();
    fill($('#events-pager'), [h('span', { class: 'muted' }, listed), this.newer, more]);
  }
}
