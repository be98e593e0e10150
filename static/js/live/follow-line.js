// The status line of a mirrored run: how the cluster is followed, the age of the data, and the actions of an operator.

import { get, post, remove } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { confirmed, informed } from '../ui/confirm.js';
import { $, fill, h, wholeDates } from '../ui/dom.js';
import { number, wallOfUnix } from '../util/format.js';
import {
  ageText,
  auditText,
  costText,
  countsText,
  eventText,
  isOld,
  lagText,
  notUpText,
  offsetText,
  samplesMessage,
  samplesText,
  stateText,
} from './condition.js';
import { samplerForm } from './sampler-form.js';
import { siteForm } from './site-rule.js';
import { paintTrial, withCommands } from './trial-result.js';

const AGAIN_MS = 2000;
const PAINT_MS = 1000;
const MAX_UNHEARD_MS = 10_000; // without an answer of the server, the present goes on for so long

export class FollowLine extends EventTarget {
  /**
   * Event 'update' after each answer. runId: of the page, null where there is none yet.
   *
   * @param {HTMLElement} element whose data-connection is the name
   */
  constructor(element, { runId }) {
    super();
    this.element = element;
    this.runId = runId;
    this.name = element.dataset.connection;
    this.operator = document.body.dataset.role === 'operator';
    this.connection = null; // as received from the server
    this.receivedAt = 0; // wall ms
    this.error = ''; // of the newest request
    this.over = false;
    this.actions = h('div', { class: 'actions' }); // kept between renders: a click must not lose its button
    this.badge = h('span', {}); // whether the forecasts can be relied on
    this.facts = h('div', {}, [...element.childNodes]); // rendered each second; what is below keeps its focus
    this.trial = h('div', { class: 'trial', 'aria-live': 'polite' });
  }

  start() {
    fill(this.element, this.facts, this.trial);
    this.#ask();
    setInterval(() => this.paint(), PAINT_MS);
  }

  /** Time of the last poll, in ms of a log that begins at epochMs; null before the first one. */
  seenMs(epochMs) {
    const seen = this.connection?.condition.seen_ms ?? null;
    return seen === null ? null : seen - epochMs;
  }

  /**
   * Current time of the cluster in ms of that log, in whole seconds; null while it is not followed. It stops where the
   * server does not answer: what is shown would be older than the time beside it.
   */
  presentMs(epochMs) {
    if (!this.connection || this.connection.wanted === 'paused') return null;
    const seen = this.seenMs(epochMs);
    const ago = this.connection.condition.polled_ago_ms;
    if (seen === null || ago === null) return null;
    return Math.floor((seen + ago + Math.min(Date.now() - this.receivedAt, MAX_UNHEARD_MS)) / 1000) * 1000;
  }

  /** Reason why the cluster is not seen now; '' while it is seen. */
  get blind() {
    const condition = this.connection?.condition;
    if (!condition || (condition.state === 'following' && !isOld(condition, Date.now() - this.receivedAt))) return '';
    return condition.message || stateText(condition.state);
  }

  async #ask() {
    if (!document.hidden || !this.connection) {
      try {
        this.connection = await get(`/api/connections/${this.name}/`);
        this.receivedAt = Date.now();
        this.error = '';
        this.dispatchEvent(new Event('update'));
      } catch (error) {
        if (error.status === 404) {
          this.over = true;
          this.error = `The connection ${this.name} was removed; this run is complete.`;
        } else if (error.status !== 0) this.error = error.message;
      }
      this.paint();
    }
    if (!this.over) setTimeout(() => this.#ask(), AGAIN_MS);
  }

  paint() {
    const { connection, error } = this;
    if (!connection || this.over) {
      if (error) fill(this.facts, h('p', { class: this.over ? 'muted' : 'error' }, error));
      return;
    }
    const { condition } = connection;
    const elapsed = Date.now() - this.receivedAt;
    const old = isOld(condition, elapsed);
    const facts = [
      eventText(condition, Date.now()),
      lagText(condition),
      costText(condition),
      countsText(condition),
    ].filter(Boolean);
    const samples = samplesText(condition, elapsed);
    const missing = samplesMessage(condition);
    const unsampled = condition.samples?.state === 'failing';
    const since = condition.since === null ? '' : ` since ${wallOfUnix(condition.since)}`;
    const age = ageText(condition, elapsed);
    const sentences = [condition.message, offsetText(condition), error].filter(Boolean).join(' ');
    const notUp = notUpText(condition);
    const signature = JSON.stringify([
      condition.state,
      since,
      age,
      old,
      facts,
      sentences,
      connection.wanted,
      connection.run,
      condition.audit,
      samples,
      missing,
      notUp,
    ]);
    if (signature === this.signature) return;
    this.signature = signature;
    if (this.wanted !== connection.wanted) fill(this.actions, this.#buttons());
    this.wanted = connection.wanted;
    fill(
      this.facts,
      h(
        'div',
        { class: 'follow-facts' },
        h('span', { class: 'state', 'data-state': condition.state }, `${stateText(condition.state)}${since}`),
        age ? h('span', { class: old ? 'error' : null, id: 'data-age' }, age) : null,
        facts.map((text) => h('span', { class: 'muted' }, text)),
        h('span', { class: condition.audit.count ? 'error' : 'muted', id: 'audit' }, wholeDates(auditText(condition))),
        this.badge,
        samples ? h('span', { class: unsampled ? 'error' : 'muted', id: 'samples' }, samples) : null,
        this.operator ? this.actions : null,
      ),
      notUp ? h('p', { id: 'not-up' }, notUp) : null,
      missing ? h('p', { class: unsampled ? 'error' : 'muted', id: 'samples-message' }, missing) : null,
      sentences ? h('p', { class: condition.state === 'failing' ? 'error' : 'muted' }, withCommands(sentences)) : null,
      condition.audit.count ? differences(condition.audit) : null,
      this.runId !== null && connection.run !== this.runId && connection.run !== null
        ? h(
            'p',
            {},
            'The cluster is now mirrored by ',
            h('a', { href: `/live/${this.name}/` }, `run ${connection.run}`),
            '.',
          )
        : null,
    );
  }

  #buttons() {
    const paused = this.connection.wanted === 'paused';
    const button = (text, act, properties = {}) => h('button', { type: 'button', onclick: act, ...properties }, text);
    return [
      paused
        ? button('Resume following', () => this.#change('follow'), { class: 'primary', id: 'follow-on' })
        : button('Pause following', () => this.#change('pause'), { id: 'follow-pause' }),
      button('Edge and cloud', (event) => this.#form(event.target, '#sites', siteForm), {
        id: 'follow-sites',
        title: 'Site rule: which nodes are at the edge',
      }),
      button('Sampler', (event) => this.#form(event.target, '#sampler', samplerForm), {
        id: 'follow-sampler',
        title: 'Source of the real use of nodes',
      }),
      button('Test', (event) => this.#test(event.target), { id: 'follow-test', title: 'Test the connection' }),
      button('Remove', () => this.#remove(), { class: 'danger', id: 'follow-remove' }),
    ];
  }

  async #change(verb) {
    await this.#run(async () => {
      this.connection = await post(`/api/connections/${this.name}/${verb}/`);
      this.receivedAt = Date.now();
      this.dispatchEvent(new Event('update'));
      this.paint();
    });
  }

  async #test(button) {
    button.disabled = true;
    fill(this.trial, h('p', { class: 'muted' }, 'Testing …'));
    await this.#run(async () => {
      paintTrial(this.trial, await post(`/api/connections/${this.name}/test/`));
      this.trial.append(h('button', { type: 'button', onclick: () => fill(this.trial) }, 'Close'));
    });
    if (this.trial.textContent === 'Testing …') fill(this.trial);
    button.disabled = false;
  }

  /** A form in place of the result of a test; the same button closes it. make(connection, done): the form. */
  async #form(button, selector, make) {
    if ($(selector, this.trial)) return fill(this.trial);
    button.disabled = true;
    await this.#run(async () => {
      const done = (changed) => {
        if (changed) this.connection = changed;
        fill(this.trial);
        button.focus();
      };
      fill(this.trial, await make(this.connection, done));
      $('input, select', this.trial)?.focus();
    });
    button.disabled = false;
  }

  async #remove() {
    const question = `Remove the connection ${this.name}? Its run ends and is kept; open jobs are unfinished in it.`;
    if (!(await confirmed(question, 'Remove'))) return;
    await this.#run(async () => {
      await remove(`/api/connections/${this.name}/`);
      location.assign('/live/');
    });
  }

  async #run(action) {
    try {
      await action();
    } catch (error) {
      logError(error);
      await informed(error.message);
    }
  }
}

/** Table of the differences between log and cluster. */
function differences({ count, differences: shown }) {
  const lines = shown.map((one) => h('li', {}, `${one.subject}, ${one.field}: log ${one.log}, cluster ${one.cluster}`));
  const title = `Differences between log and cluster (${number(shown.length, 0)} of ${number(count, 0)} shown)`;
  return h('details', { class: 'error' }, h('summary', {}, title), h('ul', {}, lines));
}
