// Status of a run from /ws/overview/, which announces every change of it: for pages that need none of its bars. The
// stream of the run sends them all.

import * as http from '../api.js';
import { browser } from './browser.js';
import { LiveSocket, detailOf } from './live-socket.js';
import { endOf, goneAs } from './run-end.js';

export class RunStatus extends EventTarget {
  /**
   * Events, as those of Stream: 'status' with .detail the status message, 'connection' when .state changed, 'deleted'
   * with .detail a sentence after the run was deleted, the last event.
   *
   * @param {number} runId
   * @param {{load<T>(request: Promise<T>, again: () => unknown): Promise<T | null>, forget(): void}} part of the page,
   *   which shows failures and repeats requests
   * @param {import('./browser.js').Browser} env
   * @param {{get(path: string): Promise<any>}} api
   */
  constructor(runId, part, env = browser, api = http) {
    super();
    this.runId = runId;
    this.part = part;
    this.api = api;
    /** @type {'connecting' | 'live' | 'offline' | 'refused' | 'deleted' | 'unavailable'} */
    this.state = 'connecting';
    this.error = ''; // message, if any
    this.ended = false;
    this.outcome = 'complete';
    /** @type {number | null} */
    this.endMs = null;
    this.asked = 0; // number of the newest question or message: an answer that comes after a newer one is ignored
    this.line = new LiveSocket('/ws/overview/', env);
    this.line.addEventListener('message', (event) => this.#receive(detailOf(event)));
    this.line.addEventListener('change', () => this.#follow());
    this.line.addEventListener('closed', () => {
      this.error = http.SESSION_ENDED;
      this.#become('refused');
    });
  }

  /** Wall time of the last message of the server, from which the age of the data counts. */
  get heardAt() {
    return this.line.heardAt;
  }

  /** Listens, and takes the status at once: also without a socket, the page shows it. */
  start() {
    this.line.open();
    return this.ask();
  }

  /** Takes the status by HTTP. */
  async ask() {
    if (this.#over) return;
    const mine = ++this.asked;
    const request = this.api.get(`/api/runs/${this.runId}/`).catch((error) => {
      if (error.status !== 404) throw error;
      this.#gone(error.message);
    });
    const run = await this.part.load(request, () => this.ask());
    if (run && mine === this.asked) this.#status(run);
  }

  /** @param {any} message */
  #receive(message) {
    if (message.type === 'snapshot_needed') this.ask();
    else if (message.type === 'run' && message.run.id === this.runId) this.#status(message.run);
    else if (message.type === 'deleted' && message.id === this.runId) this.#gone(message.message);
  }

  /** The server answers once it has subscribed: what it announced before that is asked for. */
  #follow() {
    const { state } = this.line;
    if (state !== 'live' && state !== 'offline') return;
    this.#become(state);
    if (state === 'live') this.ask();
  }

  /** @param {any} status */
  #status(status) {
    this.asked++;
    Object.assign(this, endOf(status));
    this.dispatchEvent(new CustomEvent('status', { detail: status }));
  }

  /** @param {string} sentence */
  #gone(sentence) {
    if (this.#over) return;
    this.asked++;
    this.part.forget();
    this.#become(goneAs(sentence));
    this.line.close();
    this.dispatchEvent(new CustomEvent('deleted', { detail: sentence }));
  }

  /** True if the run is gone. */
  get #over() {
    return this.state === 'deleted' || this.state === 'unavailable';
  }

  /** @param {RunStatus['state']} state */
  #become(state) {
    this.state = state;
    this.dispatchEvent(new Event('connection'));
  }
}
