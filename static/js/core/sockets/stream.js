// Stream of a run's state: a snapshot by HTTP, then deltas by WebSocket. The log is the source of truth: a gap is
// requested again by number, and a page that fell behind (hidden tab, slow, offline) loads a new snapshot.

import * as http from '../api.js';
import { browser } from './browser.js';
import { LiveSocket, detailOf } from './live-socket.js';
import { endOf, goneAs } from './run-end.js';

const REPAIR_MS = 2000; // after which a gap without an answer is requested again
const REFUSED = [4401, 4403]; // codes of a socket that the server closes: no session, no access
const OVER = ['refused', 'deleted', 'unavailable', 'dropped'];

export class Stream extends EventTarget {
  /**
   * Events: 'data' after the store changed, 'status' with .detail the status message, 'connection' when .state changed,
   * 'deleted' with .detail a sentence after the run was deleted, the last event; 'unknown' with .detail a sentence
   * for each kind of event that the store does not know, once; 'large' when the server no longer has a snapshot of a
   * run that has become too large.
   *
   * @param {number | string} runId
   * @param {import('../store.js').Store} store
   * @param {import('./browser.js').Browser} env
   * @param {{get(path: string): Promise<any>, getColumns(path: string): Promise<any>}} api
   */
  constructor(runId, store, env = browser, api = http) {
    super();
    this.runId = runId;
    this.store = store;
    this.env = env;
    this.api = api;
    /** @type {'connecting' | 'live' | 'offline' | 'paused' | 'refused' | 'deleted' | 'unavailable' | 'dropped'} */
    this.state = 'connecting';
    this.error = ''; // message, if any
    this.ended = false; // whether the run has ended, so that its data do not age
    this.outcome = 'complete'; // 'complete', or the status with which it ended
    /** @type {number | null} */
    this.endMs = null; // when it ended, in its own time
    this.repairing = 0; // ms of the clock when a gap was requested, 0 = no gap
    this.gaps = 0;
    /** @type {Promise<void> | null} */
    this.loading = null; // the snapshot being loaded
    this.line = new LiveSocket(`/ws/runs/${runId}/`, env);
    this.line.addEventListener('open', () => this.#askAfter());
    this.line.addEventListener('message', (event) => this.#receive(detailOf(event)));
    this.line.addEventListener('change', () => this.#follow(this.line.state));
    this.line.addEventListener('closed', (event) => this.#closed(detailOf(event)));
    this.unknown = new Set(); // kinds of events that were reported
    this.release = () => {}; // releases listeners and timers since `start`
  }

  /** Ends the stream for good, and releases its listeners and timers. */
  drop() {
    this.#end('dropped');
  }

  /** Wall time of the last message of the server, from which the age of the data counts. */
  get heardAt() {
    return this.line.heardAt;
  }

  /** Takes the snapshot, then listens. */
  async start() {
    this.release();
    this.release = this.env.on('visibilitychange', () => (this.env.hidden() ? this.#sleep() : this.#wake()));
    await this.snapshot();
    this.#listen();
  }

  /** Replaces the store's content with the server's; concurrent calls share one request. */
  snapshot() {
    this.loading ??= this.#load().finally(() => (this.loading = null));
    return this.loading;
  }

  async #load() {
    const payload = await this.api.getColumns(`/api/runs/${this.runId}/snapshot/`).catch((error) => {
      if (error.status === 404) this.#gone(error.message);
      if (http.isOfLargeRun(error)) this.#emit('large');
      throw error;
    });
    if (payload.meta.last_seq >= this.store.lastSeq) this.store.load(payload);
    this.repairing = 0;
    this.line.heard();
    if (payload.meta.status) this.#status(payload.meta.status);
    this.#emit('data');
  }

  /** Connects, unless the run was deleted or the page hidden while the snapshot was loaded. */
  #listen() {
    if (this.#over) return;
    if (this.env.hidden()) this.#sleep();
    else this.line.open();
  }

  /** @param {any} message */
  #receive(message) {
    if (message.type === 'frame') this.#frame(message);
    else if (message.type === 'status') {
      this.#status(message);
      if (message.last_seq > this.store.lastSeq) this.#repair();
    } else if (message.type === 'next') this.#emit('next', message.at_ms);
    else if (message.type === 'deleted') this.#gone(message.message);
    else if (message.type === 'snapshot_needed')
      this.snapshot().then(
        () => this.#askAfter(),
        (e) => this.#fail(e),
      );
    else if (message.type === 'error') this.#fail(new Error(message.message));
  }

  /** @param {{status: string, end_ms?: number | null, sim_ms?: number}} status */
  #status(status) {
    Object.assign(this, endOf(status));
    this.#emit('status', status);
  }

  /** @param {import('../columns/frames.js').Frame} frame */
  #frame(frame) {
    const { store } = this;
    if (frame.first > store.lastSeq + 1) {
      this.gaps++;
      this.#repair();
      return;
    }
    if (store.feed(frame)) {
      this.repairing = 0;
      this.#reportUnknown();
      this.#emit('data');
    }
  }

  #reportUnknown() {
    for (const kind of this.store.unknownKinds) {
      if (this.unknown.has(kind)) continue;
      this.unknown.add(kind);
      this.#emit(
        'unknown',
        `This page does not support events of the type ${kind}: their changes are not shown. Reload the page.`,
      );
    }
  }

  #repair() {
    if (this.loading || (this.repairing && this.env.now() - this.repairing < REPAIR_MS)) return;
    this.repairing = this.env.now();
    this.#askAfter();
  }

  #askAfter() {
    this.line.say({ type: 'after', seq: this.store.lastSeq });
  }

  /** @param {number} code */
  #closed(code) {
    if (REFUSED.includes(code)) return this.#refuse(http.SESSION_ENDED);
    this.api.get(`/api/runs/${this.runId}/`).catch((error) => this.#gone(error.message)); // says what it was
  }

  /** @param {string} sentence */
  #gone(sentence) {
    if (this.#over && this.state !== 'refused') return;
    this.#end(goneAs(sentence));
    this.#emit('deleted', sentence);
  }

  /** @param {'deleted' | 'unavailable' | 'refused' | 'dropped'} state */
  #end(state) {
    this.release();
    this.line.close();
    this.#become(state);
  }

  #sleep() {
    if (this.#over) return;
    this.line.close();
    this.#become('paused');
  }

  #wake() {
    if (this.state !== 'paused') return;
    this.#become('connecting');
    this.snapshot()
      .catch((e) => this.#fail(e))
      .then(() => this.#listen());
  }

  /** True if the stream has ended for good. */
  get #over() {
    return OVER.includes(this.state);
  }

  /** @param {string} why */
  #refuse(why) {
    this.error = why;
    this.#end('refused');
  }

  /** @param {Error} error */
  #fail(error) {
    if (this.#over) return;
    this.error = error.message;
    this.#emit('connection');
  }

  /** @param {LiveSocket['state']} state of the line */
  #follow(state) {
    if (state === 'live' || state === 'offline') this.#become(state);
  }

  /** @param {Stream['state']} state */
  #become(state) {
    this.state = state;
    if (['live', 'deleted', 'unavailable'].includes(state)) this.error = '';
    this.#emit('connection');
  }

  /**
   * @param {string} name
   * @param {any} [detail]
   */
  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
