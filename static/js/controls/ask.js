// Ask before you submit: a job like one of the run's, with changes, and what would become of it and of the others.

import { post } from '../lib/api.js';
import { $, fill, h } from '../lib/dom.js';
import { clock, duration, number, plural, significant } from '../lib/format.js';
import { table } from '../lib/list.js';

const SUGGESTED = 200; // ids that the field offers

export class Ask {
  /** element: where form and answer go; info: the run's static description; idOf(): the id of the job that is chosen on the page. */
  constructor(element, runId, info, idOf) {
    Object.assign(this, { element, runId, info, idOf });
    this.like = h('input', { id: 'ask-like', list: 'ask-ids', placeholder: info.ids[0] ?? '', 'aria-describedby': 'ask-like-help' });
    this.changes = h('textarea', { id: 'ask-changes', rows: 3, placeholder: 'epochs = 5\nrequested_workers = 4', 'aria-describedby': 'ask-changes-help' });
    this.said = h('p', { class: 'error wide', role: 'alert', hidden: true });
    this.answer = h('div', { class: 'answer', role: 'status' });
    const form = h('form', { class: 'form' },
      h('div', { class: 'field' }, h('label', { for: 'ask-like' }, 'A job like'), this.like, h('span', { class: 'help', id: 'ask-like-help' }, 'the id of a job of this run'),
        h('datalist', { id: 'ask-ids' }, info.ids.slice(0, SUGGESTED).map((id) => h('option', { value: id })))),
      h('div', { class: 'field two-wide' }, h('label', { for: 'ask-changes' }, 'with'), this.changes, h('span', { class: 'help', id: 'ask-changes-help' }, 'one “field = value” a line, or a line of jobs.jsonl; empty: exactly like it')),
      h('div', { class: 'wide' }, h('button', { class: 'primary', id: 'ask' }, 'Ask'), ' ', h('span', { class: 'muted small' }, 'Nothing is submitted and nothing changes.')), this.said);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#ask();
    });
    fill(element, form, this.answer);
  }

  async #ask() {
    const button = $('#ask', this.element);
    button.disabled = true;
    button.textContent = 'Asking …';
    this.said.hidden = true;
    try {
      const text = this.changes.value.trim();
      const whole = text.startsWith('{');
      const like = whole ? '' : this.like.value.trim() || this.idOf() || this.info.ids[0];
      this.#paint(await post(`/api/runs/${this.runId}/ask/`, { like, changes: whole ? parseJob(text) : parseChanges(text) }), like);
    } catch (error) {
      this.said.hidden = false;
      this.said.textContent = error.message;
    } finally {
      button.disabled = false;
      button.textContent = 'Ask';
    }
  }

  #paint(a, like) {
    const facts = [
      ['Answer', a.verdict === null ? 'not decided by then' : a.verdict], ['Start', clock(a.start_ms)], ['Finish', a.finish_ms === null ? 'not by then' : clock(a.finish_ms)],
      ['Workers', a.workers ? `${number(a.workers, 0)} at most` : '–'], ['Servers', a.servers.length ? `${a.servers.slice(0, 6).join(', ')}${a.servers.length > 6 ? ` and ${a.servers.length - 6} more` : ''}` : '–'],
    ];
    if ('cost' in a.values) facts.push(['Price', significant(a.values.cost)], ['Worth', significant(a.values.utility)], ['Payoff', significant(a.values.payoff)]);
    const { displaced } = a;
    const rows = displaced.rows.map((row) => ({ ...row, later: row.now_ms === null || row.was_ms === null ? null : row.now_ms - row.was_ms }));
    fill(this.answer,
      h('p', {}, h('strong', {}, `${like ? `A job like ${like}` : 'This job'} that came at ${clock(a.at_ms)}: `), a.sentence || 'Nothing would be decided about it in the time that was looked at.'),
      h('dl', { class: 'facts' }, facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
      h('h3', {}, displaced.count ? `${plural(displaced.count, 'job')} would end later${displaced.later_ms ? `, ${duration(displaced.later_ms)} in all` : ''}` : 'Nobody else would end later'),
      rows.length ? table([
        { title: 'Job', cell: (row) => row.id }, { title: 'Ends without it', cell: (row) => (row.was_ms === null ? '–' : clock(row.was_ms)) },
        { title: 'Ends with it', cell: (row) => (row.rejected ? 'rejected' : row.now_ms === null ? 'not by then' : clock(row.now_ms)) },
        { title: 'Later by', number: true, cell: (row) => (row.later === null ? '–' : duration(row.later)) },
      ], rows) : null,
      displaced.count > rows.length ? h('p', { class: 'muted small' }, `the worst ${rows.length} of ${number(displaced.count, 0)}`) : null,
      a.counterfactuals.length ? [h('h3', {}, 'What would flip the answer'), h('ul', {}, a.counterfactuals.map(({ sentence }) => h('li', {}, sentence)))] : null,
      h('p', { class: 'muted small' }, `Looked ahead to ${clock(a.until_ms)}${a.complete ? '' : ', where the time for an answer was up'}.`));
  }
}

/** 'epochs = 5' a line -> {epochs: 5}; an error's message says which line cannot be read. */
export function parseChanges(text) {
  const changes = {};
  for (const line of text.split('\n').map((one) => one.trim()).filter(Boolean)) {
    const parts = /^([a-z_]+)\s*[=:]\s*(.+)$/.exec(line);
    if (!parts) throw new Error(`“${line}” is no “field = value”, as in “epochs = 5”.`);
    changes[parts[1]] = valueOf(parts[2]);
  }
  return changes;
}

/** A line of jobs.jsonl; its id and arrival are left out: it would come now. */
export function parseJob(text) {
  try {
    const fields = JSON.parse(text);
    delete fields.id;
    delete fields.arrival_ms;
    return fields;
  } catch {
    throw new Error('This is no line of jobs.jsonl: an object with the fields of a job.');
  }
}

function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
