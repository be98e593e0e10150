// Levels of detail of a large run: those of the window shown, and newer ones as the run grows.

import * as http from '../../core/api.js';
import { browser } from '../../core/sockets/browser.js';
import { ENDED } from '../../core/sockets/run-end.js';
import { plural } from '../../util/format.js';

const COLUMNS = 512;
const AGAIN_MS = 3000; // until the levels of a window are asked for again, while they are computed
const NEWER_MS = 10_000; // between two questions for levels of later events

/** Sentence on how much of the run the levels shown include. */
export function coveredText({ seq, lastSeq, stopped }) {
  if (seq === 0 || seq >= lastSeq) return stopped ? '' : 'Nothing is left out of the totals, and the log is complete.';
  const included = `The totals, the schedule and the jobs include the first ${plural(seq, 'event')}`;
  const later = '; the page is updated when the totals include more events. The log is complete.';
  return included + (stopped ? '.' : later);
}

export class Levels {
  /**
   * part: of the page, which shows failures and repeats requests. on: {window() -> {from_ms, to_ms} to ask for, {} for
   * the whole run; show(found), the levels of the window; known(levels), after each answer and status; gone(), when
   * the server does not know the run}.
   */
  constructor(runId, part, on, env = browser, api = http) {
    this.runId = runId;
    this.part = part;
    this.on = on;
    this.env = env;
    this.api = api;
    this.seq = 0; // event up to which the levels shown reach, 0 before the first
    this.lastSeq = 0; // newest event of the run, as far as is known
    this.ended = false;
    this.waits = false; // whether the first levels are being computed
    this.stale = true; // whether the levels shown are not those of the window
    this.stopped = false;
    this.asked = 0; // number of the newest question: the answers to others are ignored
    this.timer = 0; // of the next question
  }

  /** Shows the levels of the window. */
  load() {
    this.stale = true;
    return this.#ask();
  }

  /** Takes the status of the run: whether it still grows. */
  status({ status, last_seq: lastSeq }) {
    this.ended = ENDED.includes(status);
    this.lastSeq = Math.max(this.lastSeq, lastSeq);
    this.on.known(this);
    if (this.#complete || (!this.timer && !this.stale)) this.#later();
  }

  /** Asks no more: the run is gone. */
  stop() {
    this.asked++;
    this.env.cancel(this.timer);
    this.part.forget();
    this.stopped = true;
    this.waits = false;
    this.on.known(this);
  }

  async #ask() {
    const mine = ++this.asked;
    this.env.cancel(this.timer);
    this.timer = 0;
    const query = new URLSearchParams({ columns: String(COLUMNS), ...this.on.window() });
    if (!this.stale) query.set('after', String(this.seq));
    const request = this.api.get(`/api/runs/${this.runId}/levels/?${query}`).catch((error) => {
      if (error.status !== 404) throw error;
      this.on.gone();
    });
    const found = await this.part.load(request, () => mine === this.asked && this.#ask());
    if (found && mine === this.asked) this.#take(found);
  }

  #take(found) {
    this.waits = !found.ready && !this.seq;
    this.lastSeq = Math.max(this.lastSeq, found.last_seq);
    if (found.ready) {
      this.seq = found.seq;
      this.stale = false;
      this.on.show(found);
    }
    this.on.known(this);
    this.#later();
  }

  /** True if there will be nothing else to show. */
  get #complete() {
    return !this.stale && this.ended && this.seq >= this.lastSeq;
  }

  /** Asks again, while there may be more to show. */
  #later() {
    this.env.cancel(this.timer);
    this.timer = this.#complete ? 0 : this.env.later(this.stale ? AGAIN_MS : NEWER_MS, () => this.#ask());
  }
}
