// Forks of a run: a new one at the time shown, the family of forks, and the actions on a fork.

import { tick } from '../core/first-steps.js';
import { confirmed } from '../ui/confirm.js';
import { get, post } from '../core/api.js';
import { rulesOf } from '../util/run-modes.js';
import { ACTIVE } from '../core/active-runs.js';
import { $, fill, h } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { number } from '../util/format.js';
import { runTime } from '../util/wall-clock.js';

/** Creates a scenario that continues from atMs with these edits, and opens its page with the fields of `form`. */
export async function forkAt(runId, atMs, edits = [], form = {}) {
  const { scenario } = await post(`/api/runs/${runId}/forks/`, { at_ms: atMs, edits, reuse: true });
  tick('fork');
  const query = new URLSearchParams(form).toString();
  location.assign(`/scenarios/${scenario.id}/${query && `?${query}`}`);
}

/**
 * Fork that a frame {from, to} over servers leads to: {atMs: the fork's moment, edits, sentence: the question to the
 * operator}.
 * The fork's moment is the one shown, or where the frame begins if all of it lies before that. beganAt: of the run, as
 * for runTime().
 */
export function drainOf({ names, from, to }, shownMs, beganAt) {
  const atMs = to > shownMs ? shownMs : Math.max(1, from);
  const beginMs = Math.max(from, atMs);
  const what =
    names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${number(names.length - 3, 0)} more` : names.join(', ');
  const where = atMs === shownMs ? 'the time shown' : 'the start of the selection';
  return {
    atMs,
    edits: [{ verb: 'drain_servers', at_ms: atMs, servers: names.join(' '), from_ms: beginMs, to_ms: to }],
    sentence:
      `Drain ${what} from ${runTime(beginMs, beganAt)} to ${runTime(to, beganAt)} in a what-if scenario? ` +
      `The scenario continues this run from ${runTime(atMs, beganAt)}, ${where}; you can edit it before you run it.`,
  };
}

/** Message for a selection that begins after the end of a run. */
export function afterTheEnd(endMs, beganAt) {
  return (
    `The run ended at ${runTime(endMs, beganAt)}, and the selection begins after that. ` +
    'To see what would happen if servers were drained, hold Alt and drag over a time before the end.'
  );
}

export class Family {
  /**
   * element: a panel with a body; onError(error); notes: what a fork of a real cluster believes; beganAt: of all of the
   * family, as for runTime().
   */
  constructor(element, runId, { operator, onError, notes = [], beganAt = null }) {
    this.element = element;
    this.runId = runId;
    this.operator = operator;
    this.onError = onError;
    this.notes = notes;
    this.beganAt = beganAt;
    this.rows = []; // the family as shown
    this.part = new PagePart('forks of the run');
  }

  async load() {
    const rows = await this.part.load(get(`/api/runs/${this.runId}/forks/`), () => this.load());
    if (!rows) return;
    this.rows = rows;
    const own = rows.find((row) => row.id === this.runId);
    const parent = rows.find((row) => row.id === own?.parent);
    const isFork = own !== undefined && own.fork_ms !== null;
    this.element.hidden = rows.length < 2 && !isFork;
    if (this.element.hidden) return;
    const why = isFork ? obstacle(own, parent) : '';
    const heir = successor(own, rows);
    fill(
      $('.family-body', this.element),
      this.notes.length ? h('p', { class: 'note', id: 'cut-notes' }, this.notes.join(' ')) : null,
      h(
        'ul',
        { class: 'family' },
        rows.map((row) =>
          h(
            'li',
            { 'aria-current': row.id === this.runId ? 'true' : null, css: { 'padding-left': `${row.depth * 22}px` } },
            row.depth ? h('span', { class: 'muted', 'aria-hidden': 'true' }, '└') : null,
            h('a', { href: `/runs/${row.id}/` }, `Run ${row.id}`),
            row.name,
            h(
              'span',
              { class: 'muted' },
              [
                row.fork_ms === null ? null : `forked at ${runTime(row.fork_ms, this.beganAt)}`,
                rulesOf(row).paced ? 'live' : null,
                row.status,
              ]
                .filter(Boolean)
                .join(', '),
            ),
            row.parent && row.id !== this.runId
              ? h('a', { href: `/compare/?runs=${row.parent},${row.id}` }, 'Compare with parent')
              : null,
            row.edits.length ? h('span', { class: 'edit-sentences' }, row.edits.join('. ')) : null,
          ),
        ),
      ),
      heir
        ? h(
            'p',
            { class: 'note', id: 'successor' },
            'This run is cancelled, and its fork continues live: ',
            h('a', { href: `/runs/${heir.id}/` }, `run ${heir.id}`),
          )
        : null,
      isFork
        ? h(
            'p',
            { class: 'actions' },
            parent
              ? h(
                  'a',
                  { class: 'button primary', href: `/compare/?runs=${parent.id},${this.runId}` },
                  present(parent) ? 'Compare with the live run' : `Compare with run ${parent.id}`,
                )
              : null,
            this.operator ? [this.#promotion(parent, why), this.#discarding(parent)] : null,
          )
        : null,
      isFork && this.operator && why ? h('p', { class: 'muted small', id: 'promote-why' }, why) : null,
    );
  }

  /** True if a message of the overview's socket changes the family: a new fork, another state, a run deleted. */
  concerns(message) {
    const run = message.run ?? message;
    const known = this.rows.find(({ id }) => id === run.id);
    if (message.type === 'deleted') return known !== undefined;
    if (message.type !== 'run') return false;
    if (!known) return this.rows.some(({ id }) => id === run.parent);
    return known.status !== run.status || known.wanted !== run.wanted;
  }

  /** The button that every fork has; where it is disabled, the sentence below the buttons says why. */
  #promotion(parent, why) {
    return h(
      'button',
      {
        type: 'button',
        id: 'promote',
        title: why || `Continue this fork live and cancel run ${parent.id}`,
        disabled: why !== '',
        'aria-describedby': why ? 'promote-why' : null,
        onclick: () => this.#promote(parent),
      },
      'Promote',
    );
  }

  #discarding(parent) {
    const title = 'Delete this fork with its log';
    return h(
      'button',
      { type: 'button', class: 'danger', id: 'discard', title, onclick: () => this.#discard(parent) },
      'Discard',
    );
  }

  async #promote(parent) {
    const question =
      `Promote this fork? It continues live in place of run ${parent.id}, which is cancelled; ` +
      `the log of run ${parent.id} is kept.`;
    if (!(await confirmed(question, 'Promote', 'primary'))) return;
    await post(`/api/runs/${this.runId}/promote/`).then((made) => location.assign(`/runs/${made.id}/`), this.onError);
  }

  async #discard(parent) {
    const question =
      `Discard run ${this.runId}? The run is cancelled if it is active, and its log is deleted. ` +
      'Its scenario is deleted too, unless another run or a sweep uses it.';
    if (!(await confirmed(question, 'Discard'))) return;
    await post(`/api/runs/${this.runId}/discard/`).then(
      () => location.assign(parent ? `/runs/${parent.id}/` : '/'),
      this.onError,
    );
  }
}

/** Reason why a fork cannot take the place of its parent (undefined: it was deleted); '' where it can. */
export function obstacle(own, parent) {
  const cannot = 'This fork cannot be promoted:';
  if (!parent) return `${cannot} the run that it was forked from has been deleted, so there is none to replace.`;
  if (present(own)) return `This fork need not be promoted: it is live already${besides(parent)}.`;
  if (present(parent)) return '';
  if (!rulesOf(parent).simulated)
    return `${cannot} run ${parent.id} mirrors a real cluster, which no fork can replace.`;
  const rule = 'a fork can only replace an active live run.';
  if (!rulesOf(parent).paced) return `${cannot} run ${parent.id} is not live, and ${rule}`;
  const state = parent.wanted === 'cancelled' ? 'cancelled' : parent.status;
  return `${cannot} run ${parent.id} is ${state}, and ${rule}`;
}

/** Sentence of a live fork about its parent that still goes on. */
function besides(parent) {
  return present(parent) ? `; to keep only this one, cancel run ${parent.id}` : '';
}

/** The live fork that goes on in place of a cancelled live run; undefined if there is none. */
export function successor(own, rows) {
  if (!rulesOf(own).paced || !(own.status === 'cancelled' || own.wanted === 'cancelled')) return undefined;
  return rows.find((row) => row.parent === own.id && present(row));
}

/**
 * True if it is the present: a live run that goes on. A fork that was promoted is it instead of its cancelled parent.
 */
function present(run) {
  return rulesOf(run).paced && ACTIVE.includes(run.status) && run.wanted !== 'cancelled';
}
