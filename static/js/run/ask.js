// Preview of a job: based on a job of the run, with changes; the outcome for it and for the other jobs.

import { Refusal, logError } from '../core/client-errors.js';
import { get, post } from '../core/api.js';
import { tick } from '../core/first-steps.js';
import { rulesOf } from '../util/run-modes.js';
import { $, fill, h } from '../ui/dom.js';
import { duration, lowered, number, plural, significant } from '../util/format.js';
import { fieldText, fieldTitle } from '../util/job-fields.js';
import { runTime } from '../util/wall-clock.js';
import { table } from '../ui/data-table.js';
import { ChangedFields } from './ask-fields.js';

/** Decisions of a preview, in which nothing has happened. */
const VERDICTS = { started: 'would start', admitted: 'would be admitted', rejected: 'would be rejected' };
const MAX_SUGGESTIONS = 200; // ids that the field offers

export class Ask {
  /**
   * element: container of form and answer; info: the run's static description; idOf(): the id of the job selected on
   * the page.
   */
  constructor(element, runId, info, idOf) {
    this.element = element;
    this.runId = runId;
    this.info = info;
    this.idOf = idOf;
    this.of = null; // id of the job whose fields are known
    const { forkedByCut } = rulesOf(info.run);
    this.like = h('input', {
      id: 'ask-like',
      list: 'ask-ids',
      placeholder: info.ids[0] ?? '',
      'aria-describedby': 'ask-like-help',
    });
    this.lines = h('div', { class: 'changed-fields', id: 'ask-fields' });
    this.changed = new ChangedFields(this.lines, forkedByCut);
    this.text = h('textarea', { id: 'ask-text', rows: 3, 'aria-describedby': 'ask-text-help' });
    this.errorLine = h('p', { class: 'error wide', role: 'alert', hidden: true });
    this.answer = h('div', { class: 'answer', role: 'status' });
    const form = h(
      'form',
      { class: 'form' },
      h(
        'div',
        { class: 'field' },
        h('label', { for: 'ask-like' }, 'Job to copy'),
        this.like,
        h('span', { class: 'help', id: 'ask-like-help' }, 'Id of a job of this run'),
        h(
          'datalist',
          { id: 'ask-ids' },
          info.ids.slice(0, MAX_SUGGESTIONS).map((id) => h('option', { value: id })),
        ),
      ),
      h(
        'fieldset',
        { class: 'field wide' },
        h('legend', {}, 'Fields that differ'),
        this.lines,
        h('div', {}, h('button', { type: 'button', id: 'ask-add', onclick: () => this.#addField() }, 'Add a field')),
      ),
      h(
        'details',
        { class: 'wide' },
        h('summary', { class: 'muted' }, 'Paste a job instead'),
        h(
          'div',
          { class: 'field' },
          h('label', { for: 'ask-text' }, 'Job as text'),
          this.text,
          h(
            'span',
            { class: 'help', id: 'ask-text-help' },
            'A line of a jobs.jsonl file, which replaces the job to copy; or lines of names and values of fields, ' +
              'such as ' +
              `${forkedByCut ? 'run_ms = 3600000' : 'epochs = 5'}`,
          ),
        ),
      ),
      h(
        'div',
        { class: 'wide beside' },
        h('button', { class: 'primary', id: 'ask' }, 'Ask'),
        h('span', { class: 'muted small' }, 'The job is not submitted, and the run does not change.'),
      ),
      this.errorLine,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#ask();
    });
    this.like.addEventListener('change', () => this.#known());
    fill(element, form, this.answer);
  }

  get #copied() {
    return this.like.value.trim() || this.idOf() || this.info.ids[0];
  }

  /** Reads the fields of the job to copy, unless they are known; without them, all fields are offered as texts. */
  async #known() {
    const id = this.#copied;
    if (id === this.of) return;
    this.of = id;
    const index = this.info.ids.indexOf(id);
    const story = index < 0 ? null : await get(`/api/runs/${this.runId}/jobs/${index}/`).catch(logError);
    if (this.of === id) this.changed.of(story?.fields ?? []);
  }

  async #addField() {
    await this.#known();
    this.changed.add();
  }

  async #ask() {
    const button = $('#ask', this.element);
    button.disabled = true;
    button.textContent = 'Asking …';
    this.errorLine.hidden = true;
    fill(this.answer); // the earlier answer belongs to another question
    try {
      await this.#known();
      const text = this.text.value.trim();
      const whole = text.startsWith('{');
      const like = whole ? '' : this.#copied;
      const changes = { ...this.changed.read(), ...(whole ? parseJob(text) : parseChanges(text)) };
      const answer = await post(`/api/runs/${this.runId}/ask/`, { like, changes });
      this.#paint(answer, like ? `A copy of ${like}${changesText(changes)}` : 'The job');
      tick('ask');
    } catch (error) {
      this.errorLine.hidden = false;
      this.errorLine.textContent = error.message;
    } finally {
      button.disabled = false;
      button.textContent = 'Ask';
    }
  }

  /** a: the answer of the API; job: the job in words. */
  #paint(a, job) {
    const time = (ms) => runTime(ms, this.info.run.began_at);
    const facts = [
      ['Answer', a.verdict === null ? 'no decision in the simulated time' : (VERDICTS[a.verdict] ?? a.verdict)],
      ['Start', time(a.start_ms)],
      [
        'Finish',
        a.finish_ms === null ? (a.verdict === 'rejected' ? '–' : 'not in the simulated time') : time(a.finish_ms),
      ],
      ['Workers', a.workers ? `at most ${number(a.workers, 0)}` : '–'],
      [
        'Servers',
        a.servers.length
          ? a.servers.slice(0, 6).join(', ') +
            (a.servers.length > 6 ? ` and ${number(a.servers.length - 6, 0)} more` : '')
          : '–',
      ],
    ];
    if ('cost' in a.values)
      facts.push(
        ['Cost', significant(a.values.cost)],
        ['Utility', significant(a.values.utility)], // of the planned schedule, not the metric of a completed job
        ['Payoff', significant(a.values.payoff)],
      );
    const { displaced } = a;
    const touched = displaced.later + displaced.open + displaced.rejected;
    const rows = displaced.rows.map((row) => ({
      ...row,
      later: row.now_ms === null || row.was_ms === null ? null : row.now_ms - row.was_ms,
    }));
    fill(
      this.answer,
      h(
        'p',
        {},
        h('strong', {}, `${job}, submitted at ${time(a.at_ms)}: `),
        a.sentence || 'No decision in the simulated time.',
      ),
      h(
        'dl',
        { class: 'facts' },
        facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
      ),
      h('h3', {}, displacedText(displaced, time(a.until_ms))),
      rows.length
        ? table(
            [
              { title: 'Job', cell: (row) => row.id },
              { title: 'End without the job', cell: (row) => (row.was_ms === null ? '–' : time(row.was_ms)) },
              {
                title: 'End with the job',
                cell: (row) =>
                  row.rejected ? 'rejected' : row.now_ms === null ? 'not in the simulated time' : time(row.now_ms),
              },
              { title: 'Delay', number: true, cell: (row) => (row.later === null ? '–' : duration(row.later)) },
            ],
            rows,
          )
        : null,
      touched > rows.length
        ? h('p', { class: 'muted small' }, `The ${rows.length} most affected jobs of ${number(touched, 0)}`)
        : null,
      a.counterfactuals.length
        ? [
            h('h3', {}, 'What would change the answer'),
            h(
              'ul',
              {},
              a.counterfactuals.map(({ sentence }) => h('li', {}, sentence)),
            ),
          ]
        : null,
      (a.notes ?? []).map((note) => h('p', { class: 'muted small' }, note)),
      h(
        'p',
        { class: 'muted small' },
        `Simulated up to ${time(a.until_ms)}${a.complete ? '' : ', where the time limit of an answer was reached'}.`,
      ),
    );
  }
}

/**
 * Effect on other jobs. Rejections and unknown ends are listed separately from delays.
 * until: the end of the simulated time, as text.
 */
export function displacedText({ later, later_ms: laterMs, open, rejected }, until) {
  const parts = [
    rejected && `${plural(rejected, 'other job')} would be rejected`,
    open && `${plural(open, 'other job')} would not finish by ${until}`,
    later && `${plural(later, 'other job')} would finish later, by ${duration(laterMs)} in total`,
  ].filter(Boolean);
  return parts.join('; ') || 'No other job would be rejected or finish later';
}

/** Lines like 'epochs = 5' -> {epochs: 5}; the server checks the names. The error names an invalid line. */
export function parseChanges(text) {
  const changes = {};
  for (const line of text
    .split('\n')
    .map((one) => one.trim())
    .filter(Boolean)) {
    const parts = /^([\w.]+)\s*[=:]\s*(.+)$/.exec(line);
    if (!parts) throw new Refusal(`“${line}” is not a “field = value” line such as “epochs = 5”.`);
    changes[parts[1]] = valueOf(parts[2]);
  }
  return changes;
}

/** {epochs: 5, minibatch_ms: 90000} -> ' with epochs 5, time per mini-batch 1m 30s'; '' without changes. */
export function changesText(changes) {
  const texts = Object.entries(changes).map(([name, value]) => {
    const title = name === 'run_ms' ? 'duration' : lowered(fieldTitle(name));
    return `${title} ${fieldText(name, value)}`;
  });
  return texts.length ? ` with ${texts.join(', ')}` : '';
}

/** A line of jobs.jsonl without id and arrival: the job would arrive now. */
function parseJob(text) {
  try {
    const fields = JSON.parse(text);
    delete fields.id;
    delete fields.arrival_ms;
    return fields;
  } catch {
    throw new Refusal('This is not a line of a jobs.jsonl file: it must be a JSON object with the fields of a job.');
  }
}

function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
