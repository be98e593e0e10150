// Drawer with the story of one job in order: submitted, decided and why, where it ran, how it ended, what would have
// changed the decision.

import { tick } from '../../core/first-steps.js';
import { reasonLabel } from './reason-label.js';
import { get } from '../../core/api.js';
import { logError } from '../../core/client-errors.js';
import { JOB_COLORS } from '../../util/colors.js';
import { $, fill, h } from '../../ui/dom.js';
import { capital, clock } from '../../util/format.js';
import { barsTable } from './bars-table.js';
import { decisionList } from './decisions.js';
import { fieldsTable } from './fields-table.js';
import { finishOf, finishSentence } from './found-schedule.js';
import { serverLink } from '../../ui/address/server-link.js';
import { finder } from '../../ui/focus.js';
import { jobMark, outcomeOf } from '../../ui/labels/job-mark.js';
import { membership } from './memberships.js';
import { payoffParts } from './payoff.js';
import { askedText, endOf, isOpen, moment, notRunText, ranText, whereItRan } from './story.js';
import { terms } from './dispatch-cost.js';
import { utilityCurve } from '../../charts/utility-curve.js';
import { stateWord, stopsOf } from '../../models/index.js';
import { phaseAt } from '../../core/phases.js';

const AT_THE_DECISION =
  'Each line states the effect of changing one property of the job; earlier decisions stay as they are. For ' +
  'priority and target, price bounds that depend on this job are estimated again, unless they are clairvoyant.';
const LEADS = { waits: 'waiting', paused: 'suspended' }; // kinds of decisions in words, where they are none
const [PADDING, MIN_ROOM] = [16, 280]; // px, as in .drawer of run.css
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

const PLACING = ['admitted', 'started', 'rejected']; // kinds of decisions on which a plan, or its absence, rests
const isPriced = (decision) => 'payoff' in (decision?.values ?? {});

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
   * onPick(job) opens another job; onClose(); then(): the time shown, null for the newest; shownMs(): the same in ms;
   * goTo('schedule' | 'events', job) shows the job there.
   */
  constructor(
    element,
    runId,
    info,
    { onShow, onPick, onClose, then = () => null, shownMs = () => Infinity, goTo = null },
  ) {
    this.element = element;
    this.runId = runId;
    this.info = info;
    this.onShow = onShow;
    this.onPick = onPick;
    this.onClose = onClose;
    this.then = then;
    this.shownMs = shownMs;
    this.goTo = goTo;
    this.clock = () => null; // {sim_ms, wall_ms, speed} of a live cluster or run
    this.job = null;
    this.asked = new Map(); // decision -> its counterfactuals, as a promise
    this.unfolded = null; // the job of which all decisions are shown
    this.ahead = (_job) => null; // what is expected of a job, as nodes; of a live cluster
    this.opener = () => null; // the element that had the focus before
    // the bar on top scrolls away, and the drawer takes its place
    const follow = () => element.style.setProperty('--scrolled', `${document.documentElement.scrollTop}px`);
    addEventListener('scroll', follow, { passive: true });
    follow();
    addEventListener('keydown', (/** @type {any} */ { key, target }) => {
      const other = (target.closest?.('dialog') ?? element) !== element; // another dialog handles the key itself
      if (key === 'Escape' && !other) this.close();
    });
  }

  async open(job) {
    const fresh = this.job !== job;
    this.job = job;
    if (fresh) {
      this.unfolded = null;
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
    this.asked = new Map(); // decision -> its counterfactuals, as a promise
    this.element.close();
    this.onClose();
    if (back) (this.opener() ?? $(`main [data-job="${job}"]`) ?? $('main canvas'))?.focus({ preventScroll: true });
    this.opener = () => null;
  }

  /** Width for its content in px, between its paddings. */
  #room() {
    return Math.max(MIN_ROOM, this.element.clientWidth - 2 * PADDING);
  }

  #titleOf(job) {
    return this.info.ids[job] ?? `job ${job}`;
  }

  #head(title, state, outcome = null) {
    const swatch = this.job === null ? null : h('i', { class: `swatch job-${this.job % JOB_COLORS}` });
    return h(
      'header',
      {},
      h('h1', {}, swatch, title),
      state ? jobMark(state, stateWord(this.info, state), outcome) : null,
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
    const newest = decisions.findLast(({ kind }) => PLACING.includes(kind)); // an edit can withdraw earlier plans
    const priced = isPriced(newest) ? newest : null;
    const worth = priced?.values;
    const price = priced && priced.kind !== 'rejected' ? worth.cost : null;
    const serverOf = (index) => this.#server(index);
    fill(
      this.element,
      this.#head(story.id, story.state, outcomeOf(decisions)),
      story.at_ms === null || story.at_ms === undefined
        ? null
        : h('p', { class: 'notice' }, `State at ${clock(story.at_ms)}.`),
      this.#links(story),
      this.#asked(story),
      step(
        'Decisions',
        null,
        first ? null : h('p', { class: 'muted' }, undecidedText(story.state)),
        this.#forecast(),
        decisionList(
          decisions,
          (decision) => this.#reason(decision, story),
          this.unfolded === this.job,
          () => this.#unfold(story),
        ),
        worth ? payoffParts(worth, this.info, price !== null, serverOf) : null,
        story.worth ? utilityCurve(story.worth, { ...finishShown(story, priced), price, room: this.#room() }) : null,
      ),
      this.#ran(story, serverOf),
      this.#ended(story),
      isPriced(first) || NO_ROOM.includes(first?.code) ? this.#counterfactuals(first.seq, decisions.length > 1) : null,
      fieldsTable(story, this.#inCharge),
    );
  }

  /** The phase of the time shown. */
  get #inCharge() {
    return phaseAt(this.info.phases, this.shownMs());
  }

  /** All decisions of the job, while it is shown. */
  #unfold(story) {
    this.unfolded = this.job;
    this.#paint(story);
    this.element.querySelector('#drawer-close').focus({ preventScroll: true }); // the button is gone
  }

  /** A moment of the job, as in story.js. */
  #moment(ms, story) {
    return moment(ms, story.arrived_ms, this.clock());
  }

  #links({ arrived_ms: arrived }) {
    if (!Number.isFinite(arrived) || !this.goTo) return null;
    const link = (where, text) => h('button', { type: 'button', onclick: () => this.goTo(where, this.job) }, text);
    return h(
      'div',
      { class: 'actions' },
      link('schedule', 'Show in the schedule'),
      link('events', 'Events of this job'),
    );
  }

  /** Forecast of the job, at the newest time. */
  #forecast() {
    return this.then() === null ? this.ahead(this.job) : null;
  }

  #asked(story) {
    const known = Number.isFinite(story.arrived_ms);
    const text = askedText(story.fields ?? [], this.#inCharge.unused);
    return step('Arrival', known ? this.#moment(story.arrived_ms, story) : null, text ? h('p', {}, text) : null);
  }

  #ran(story, serverOf) {
    if (story.stretches) return membership(story.stretches);
    const found = whereItRan(story.bars ?? [], story.bar_fields ?? [], this.shownMs());
    const { servers } = this.info.cluster;
    if (!found) {
      const planned = barsTable(story, serverOf);
      return planned
        ? step('Plan', null, planned)
        : step('Execution', null, h('p', { class: 'muted' }, notRunText(story)));
    }
    const until = found.end === null ? ' until now' : [' to ', this.#moment(found.end, story)];
    return step(
      'Execution',
      ['from ', this.#moment(found.begin, story), until],
      h(
        'p',
        {},
        ranText(found, (server) => servers[server]?.name ?? 'cloud', stopsOf(this.info, story, found)),
      ),
      barsTable(story, serverOf),
    );
  }

  #ended(story) {
    if (!Number.isFinite(story.arrived_ms) || story.state === null) return null;
    // “No finish is planned” would contradict the forecast, or repeat it
    if (isOpen(story) && this.#forecast()) return null;
    const [title, text, ms] = endOf(story, stateWord(this.info, 'completed'));
    return step(title, ms === null ? null : this.#moment(ms, story), h('p', {}, text));
  }

  #reason(decision, story) {
    const { worth } = story;
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
        'p',
        { class: 'decided' },
        h('span', {}, 'decided at ', this.#moment(at, story), by),
        ' ',
        h('button', { type: 'button', class: 'quiet', onclick: () => this.onShow(at) }, 'Show this time'),
      ),
    );
  }

  /** Counterfactuals of the first decision; the server computes them on the state at that time, and caches them. */
  #counterfactuals(seq, decidedAgain) {
    const list = h('ul', { class: 'plain' });
    const more = h(
      'button',
      {
        type: 'button',
        class: 'quiet more-search',
        hidden: true,
        onclick: () => this.#ask(seq, list, more, MAX_SEARCH_S),
      },
      'Search longer',
    );
    this.#ask(seq, list, more);
    return h(
      'section',
      {},
      h('h2', {}, `What would have changed the ${decidedAgain ? 'first ' : ''}decision`),
      h('p', { class: 'muted small' }, AT_THE_DECISION),
      list,
      more,
    );
  }

  /** seconds: how long the server may search; by default a fraction of one. */
  #ask(seq, list, more, seconds) {
    fill(list, h('li', { class: 'muted' }, 'Computing …'));
    more.hidden = true;
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
            : h('li', {}, "No change of this job's own fields would have changed the decision."),
        );
        more.hidden = seconds !== undefined || rows.every((row) => row.searched);
      })
      .catch((error) => {
        this.asked.delete(seq);
        fill(list, h('li', { class: 'muted' }, error.message));
      });
  }

  #server(index) {
    const server = this.info.cluster.servers[index];
    return server ? h('a', { href: serverLink(this.runId, index, this.then()) }, server.name) : 'cloud';
  }
}

/** A step of the story: its title, the time, and what happened. */
function step(title, time, ...content) {
  return h('section', { class: 'step' }, h('h2', {}, title, time ? h('span', {}, time) : null), content);
}

/** The finish on the job's utility curve: actual, planned, or of the schedule found when it was rejected. */
function finishShown({ completed_ms: completed, finish_ms: planned, worth }, priced) {
  if (typeof completed === 'number') return { finishMs: completed, kind: 'done' };
  if (typeof planned === 'number') return { finishMs: planned, kind: 'planned' };
  const rejected = priced?.kind === 'rejected';
  return rejected ? { finishMs: finishOf(priced.values, worth), kind: 'found' } : { finishMs: null, kind: 'none' };
}
