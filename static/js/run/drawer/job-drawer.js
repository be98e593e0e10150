// Drawer with the history of one job, its decision and the reason first.

import { tick } from '../../core/first-steps.js';
import { reasonLabel } from './reason-label.js';
import { get } from '../../core/api.js';
import { logError } from '../../core/client-errors.js';
import { JOB_COLORS } from '../../util/colors.js';
import { $, fill, h } from '../../ui/dom.js';
import { fieldText, fieldTitle, originText } from '../../util/job-fields.js';
import { capital, clock, duration, fixed, number, significant } from '../../util/format.js';
import { costly, finishOf, finishSentence } from './found-schedule.js';
import { finder } from '../../ui/focus.js';
import { shown, table } from '../../ui/data-table.js';
import { roleName } from '../../gantt/roles.js';
import { membership } from './memberships.js';
import { terms } from './dispatch-cost.js';
import { utilityCurve } from '../../charts/utility-curve.js';
import { stateWord } from '../../models/index.js';
import { phaseAt } from '../../models/phases.js';

const AT_THE_DECISION =
  'Each change alone, at the prices of the decision. A fork with the change can decide otherwise: a scheduler that ' +
  'estimates price bounds from the jobs estimates them again.';
const LEADS = { waits: 'waiting', paused: 'suspended' }; // kinds of decisions in words, where they are none
const MAX_BARS = 60;
const MAX_SEARCH_S = 20; // of a longer search for counterfactuals

/**
 * [lead, rest] of the sentence of a decision: its first words up to a colon, or the kind of the decision, which is not
 * repeated where the sentence begins with it.
 *
 * @param {string} kind
 * @param {string} text
 */
export function leadOf(kind, text) {
  const lead = LEADS[kind] ?? kind;
  const colon = /^[^:.]{1,24}:/.exec(text);
  if (colon) return [colon[0], text.slice(colon[0].length)];
  if (text.toLowerCase().startsWith(lead)) return [text.slice(0, lead.length), text.slice(lead.length)];
  return [`${capital(lead)}.`, ` ${text}`];
}

/** Sentence of a job without decisions; state: of the job. */
export function undecidedText(state) {
  if (state === 'not arrived') return 'This job has not arrived yet.';
  return state === 'queued' ? 'Queued: no decision yet.' : 'The log has no decision about this job.';
}

// Rejections without a payoff for which the server also has counterfactuals
const NO_ROOM = ['no_capacity', 'too_late'];

export class Drawer {
  /**
   * element: a dialog beside the page; info: the run's static description; onShow(ms) moves the playhead;
   * onPick(job) opens another job; onClose(); then(): the moment shown, null for the newest.
   */
  constructor(element, runId, info, { onShow, onPick, onClose, then = () => null }) {
    Object.assign(this, { element, runId, info, onShow, onPick, onClose, then });
    this.job = null;
    this.ahead = (_job) => null; // what is expected of a job, as nodes; of a followed cluster
    this.opener = () => null; // the element that had the focus before
    addEventListener('keydown', ({ key, target }) => {
      const other = (target.closest?.('dialog') ?? element) !== element; // another dialog handles the key itself
      if (key === 'Escape' && !other) this.close();
    });
  }

  async open(job) {
    const fresh = this.job !== job;
    this.job = job;
    if (fresh) {
      if (!this.element.contains(document.activeElement)) this.opener = finder(document.activeElement);
      fill(this.element, this.#head(this.#titleOf(job), ''), h('p', { class: 'muted' }, 'Loading …'));
      if (!this.element.open) this.element.show();
      this.element.querySelector('button').focus({ preventScroll: true });
    }
    try {
      const then = this.then();
      const story = await get(`/api/runs/${this.runId}/jobs/${job}/${then === null ? '' : `?at_ms=${then}`}`);
      if (this.job === job && this.then() === then) this.#paint(story);
    } catch (error) {
      logError(error);
      if (this.job !== job) return; // closed, or showing another job
      fill(this.element, this.#head(this.#titleOf(job), ''), h('p', { class: 'error', role: 'alert' }, error.message));
    }
  }

  close() {
    if (this.job === null) return;
    const { job } = this;
    const focused = document.activeElement;
    const back = focused === document.body || this.element.contains(focused);
    this.job = null;
    this.element.close();
    this.onClose();
    if (back) (this.opener() ?? $(`main [data-job="${job}"]`) ?? $('main canvas'))?.focus({ preventScroll: true });
    this.opener = () => null;
  }

  #titleOf(job) {
    return this.info.ids[job] ?? `job ${job}`;
  }

  #head(title, state) {
    const swatch = this.job === null ? null : h('i', { class: `swatch job-${this.job % JOB_COLORS}` });
    return h(
      'header',
      {},
      h('h1', {}, swatch, title),
      state ? h('span', { class: 'state', 'data-state': state }, stateWord(this.info, state)) : null,
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          id: 'drawer-close',
          onclick: () => this.close(),
          title: 'Close (Esc)',
        },
        'Close',
      ),
    );
  }

  #paint(story) {
    if (story.state === 'rejected') tick('rejected');
    const decisions = [...(story.decisions ?? [])];
    const first = decisions[0];
    const worth = decisions.map((d) => d.values).find((values) => values && 'payoff' in values);
    const price = worth && first.kind !== 'rejected' ? worth.cost : null;
    fill(
      this.element,
      this.#head(story.id, story.state),
      story.at_ms === null || story.at_ms === undefined
        ? null
        : h('p', { class: 'notice' }, `State at ${clock(story.at_ms)}.`),
      first ? null : h('p', { class: 'muted' }, undecidedText(story.state)),
      this.then() === null ? this.ahead(this.job) : null,
      decisions.map((decision) => this.#reason(decision, story.worth)),
      worth ? this.#worth(worth, price !== null) : null,
      story.worth ? utilityCurve(story.worth, { ...finishShown(story, worth), price }) : null,
      worth || NO_ROOM.includes(first?.code) ? this.#flips(first.seq) : null,
      this.#times(story),
      story.stretches ? membership(story.stretches) : this.#bars(story),
      this.#fields(story),
    );
  }

  #reason(decision, worth) {
    const { kind, code, sentence, at_ms: at, values } = decision;
    const [lead, rest] = leadOf(kind, sentence ?? reasonLabel(code));
    const { phases } = this.info;
    const by = phases.length > 1 ? ` by ${phaseAt(phases, at).title}` : '';
    return h(
      'div',
      { class: 'reason', 'data-kind': kind },
      h('strong', {}, lead),
      rest,
      kind === 'rejected' && worth && 'payoff' in (values ?? {})
        ? h('p', { class: 'found' }, finishSentence(values, worth))
        : null,
      terms(decision, this.info.ids, this.onPick),
      h(
        'time',
        {},
        `decided at ${clock(at)}${by} `,
        h('button', { type: 'button', class: 'quiet', onclick: () => this.onShow(at) }, 'Show this time'),
      ),
    );
  }

  #worth({ utility, cost, payoff, cost_by_resource: parts, cells }, paid) {
    const { names, units } = this.info;
    const box = (title, value, negative) =>
      h('div', { class: negative ? 'negative' : null }, h('span', {}, title), h('b', {}, fixed(value)));
    const total = (parts ?? []).reduce((sum, part) => sum + part, 0);
    const resources = (parts ?? []).map((part, r) => [r, part]);
    const shownParts = costly(resources, ([, part]) => part);
    const shownCells = costly(cells ?? [], ([, , , , part]) => part);
    return [
      h(
        'div',
        { class: 'sum' },
        box('Utility', utility),
        box(paid ? 'Cost paid' : 'Cost at current prices', cost),
        box('Payoff = utility − cost', payoff, payoff <= 0),
      ),
      shownParts.length
        ? h(
            'section',
            {},
            h('h2', {}, 'Cost by resource'),
            table(
              [
                { title: 'Resource', cell: ([r]) => names[r] },
                { title: 'Cost', number: true, cell: ([, part]) => fixed(part) },
                { title: 'Share', number: true, cell: ([, part]) => `${((part / total) * 100).toFixed(1)} %` },
                {
                  title: '',
                  cell: ([, part]) =>
                    h('span', { class: 'meter' }, h('i', { css: { width: `${(part / total) * 100}%` } })),
                },
              ],
              shownParts,
            ),
          )
        : null,
      shownCells.length
        ? h(
            'section',
            {},
            h('h2', {}, 'Most expensive cells'),
            h('p', { class: 'muted small' }, 'The servers, resources and slots with the largest part of the cost.'),
            h(
              'div',
              { class: 'scroll' },
              table(
                [
                  { title: 'Server', cell: ([server]) => this.#server(server) },
                  { title: 'Resource', cell: ([, r]) => names[r] },
                  { title: 'Slot', number: true, cell: ([, , slot]) => number(slot, 0) },
                  { title: 'From', number: true, cell: ([, , slot]) => clock(slot * this.info.cluster.slot_ms) },
                  { title: 'Price', number: true, cell: ([, r, , price]) => `${significant(price)} / ${units[r]}` },
                  { title: 'Cost', number: true, cell: ([, , , , cost]) => fixed(cost) },
                ],
                shownCells,
              ),
            ),
          )
        : null,
    ];
  }

  /** Counterfactuals of the decision; the server computes them on the state at that time, and caches them. */
  #flips(seq) {
    const list = h('ul', { class: 'plain' });
    const more = h(
      'button',
      { type: 'button', class: 'quiet', hidden: true, onclick: () => this.#ask(seq, list, more, MAX_SEARCH_S) },
      'Search longer',
    );
    this.#ask(seq, list, more);
    return h(
      'section',
      {},
      h('h2', {}, 'What would have changed the decision'),
      h('p', { class: 'muted small' }, AT_THE_DECISION),
      list,
      more,
    );
  }

  /** seconds: how long the server may search; by default a fraction of one. */
  #ask(seq, list, more, seconds) {
    fill(list, h('li', { class: 'muted' }, 'Computing …'));
    more.hidden = true;
    this.asked ??= new Map();
    if (seconds || !this.asked.has(seq)) {
      this.asked.set(
        seq,
        get(`/api/runs/${this.runId}/jobs/${this.job}/counterfactuals/${seconds ? `?seconds=${seconds}` : ''}`),
      );
    }
    this.asked
      .get(seq)
      .then(({ rows }) => {
        fill(
          list,
          rows.length
            ? rows.map((row) => h('li', {}, row.sentence))
            : h('li', {}, "No change to this job's own parameters would have changed the decision."),
        );
        more.hidden = seconds !== undefined || rows.every((row) => row.searched);
      })
      .catch((error) => {
        this.asked.delete(seq);
        fill(list, h('li', { class: 'muted' }, error.message));
      });
  }

  #times(story) {
    const facts = [
      ['Arrived', clock(story.arrived_ms)],
      ['Decided', clock(story.decided_ms)],
      ['Start', clock(story.start_ms)],
      ['Planned finish', clock(story.finish_ms)],
      ['Completed', clock(story.completed_ms)],
      ['Completion time (JCT)', duration(story.jct_ms)],
      ['Utility earned', story.completed_ms === null ? '–' : number(story.utility)],
      ['Model', story.model ?? '–'],
    ];
    return h(
      'dl',
      { class: 'facts' },
      facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
    );
  }

  #bars(story) {
    const at = Object.fromEntries((story.bar_fields ?? []).map((name, i) => [name, i]));
    const bars = (story.bars ?? [])
      .filter((bar) => bar[at.died_ms] < 0)
      .sort((a, b) => a[at.start_ms] - b[at.start_ms]);
    if (!bars.length)
      return h('section', {}, h('h2', {}, 'Bars'), h('p', { class: 'muted' }, 'Nothing is planned for this job.'));
    return h(
      'section',
      {},
      h('h2', {}, 'Bars'),
      h('p', { class: 'muted small' }, shown(Math.min(MAX_BARS, bars.length), bars.length, 'bars')),
      h(
        'div',
        { class: 'scroll' },
        table(
          [
            { title: 'Role', cell: (bar) => roleName(bar[at.role]) },
            { title: 'Server', cell: (bar) => this.#server(bar[at.server]) },
            { title: 'Count', number: true, cell: (bar) => number(bar[at.count], 0) },
            { title: 'Start', number: true, cell: (bar) => clock(bar[at.start_ms]) },
            { title: 'End', number: true, cell: (bar) => clock(bar[at.end_ms]) },
          ],
          bars.slice(0, MAX_BARS),
        ),
      ),
    );
  }

  #server(index) {
    const server = this.info.cluster.servers[index];
    return server ? h('a', { href: `/runs/${this.runId}/servers/${index}/` }, server.name) : 'cloud';
  }

  #fields(story) {
    const fields = (story.fields ?? []).filter((field) => field.value !== null);
    const from = ['trace', 'derived', 'drawn', 'as_it_turned_out', 'limit', 'assumed', 'predicted']
      .map((origin) => [origin, fields.filter((field) => field.provenance === origin).length])
      .filter(([, count]) => count);
    const says = {
      trace: 'from the trace',
      derived: 'derived',
      drawn: 'sampled',
      as_it_turned_out: 'from the actual duration',
      limit: 'from the time limit',
      assumed: 'from an assumed duration',
      predicted: 'from a predicted duration',
    };
    return h(
      'section',
      {},
      h('h2', {}, 'Fields and their provenance'),
      from.length
        ? h('p', { class: 'muted small' }, `${from.map(([origin, count]) => `${count} ${says[origin]}`).join(', ')}.`)
        : null,
      table(
        [
          { title: 'Field', cell: (field) => h('span', { title: field.name }, fieldTitle(field.name)) },
          { title: 'Value', cell: (field) => fieldText(field.name, field.value) },
          {
            title: 'Provenance',
            cell: (field) =>
              field.provenance
                ? h('span', { class: 'mark', 'data-origin': field.provenance }, originText(field.provenance))
                : '',
          },
        ],
        fields,
      ),
    );
  }
}

/** The finish on the job's utility curve: actual, planned, or of the schedule found when it was rejected. */
function finishShown({ completed_ms: completed, finish_ms: planned, worth, decisions }, found) {
  if (typeof completed === 'number') return { finishMs: completed, kind: 'done' };
  if (typeof planned === 'number') return { finishMs: planned, kind: 'planned' };
  const rejected = found && decisions[0].kind === 'rejected';
  return rejected ? { finishMs: finishOf(found, worth), kind: 'found' } : { finishMs: null, kind: 'none' };
}
