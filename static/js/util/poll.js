// Polling of the server for pages without a socket, shown by the same badge.

const AGAIN_MS = 2000; // wait after a failed request

export class Poll extends EventTarget {
  /**
   * Event: 'change' of .state.
   *
   * @param {() => Promise<boolean>} ask gives whether to ask again in `ms`
   * @param {number} ms
   * @param {(error: Error | null) => void} onError is called with null after a success
   */
  constructor(ask, ms, onError) {
    super();
    this.ask = ask;
    this.ms = ms;
    this.onError = onError;
    /** @type {'connecting' | 'live' | 'offline' | 'deleted'} */
    this.state = 'connecting';
    this.heardAt = 0;
    this.ended = false;
    this.outcome = 'complete'; // text of the badge once it has ended
    /** @type {ReturnType<typeof setTimeout> | 0} */
    this.timer = 0;
    addEventListener('offline', () => this.ended || this.#become('offline'));
    addEventListener('online', () => this.ended || this.now());
  }

  /** Requests at once. */
  async now() {
    clearTimeout(this.timer);
    try {
      const more = await this.ask();
      Object.assign(this, { heardAt: Date.now(), ended: !more });
      this.#become('live');
      this.onError(null);
      if (more) this.#later(this.ms);
    } catch (caught) {
      const error = /** @type {Error & {status?: number}} */ (caught);
      this.onError(error);
      if (error.status === 404 && this.heardAt) {
        this.ended = true;
        this.#become('deleted');
      }
      if (error.status !== 0) return; // an answer of the server: another request would not change it
      this.#become('offline');
      this.#later(AGAIN_MS);
    }
  }

  /** @param {number} ms */
  #later(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), ms);
  }

  /** @param {Poll['state']} state */
  #become(state) {
    this.state = state;
    this.dispatchEvent(new Event('change'));
  }
}

/**
 * The error of a Poll as a sentence; '' after a success, and while the server cannot be reached: the badge shows that.
 *
 * @param {(Error & {status?: number}) | null} error
 */
export const pollError = (error) => (error && error.status !== 0 ? error.message : '');
