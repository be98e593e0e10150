// Polling of the server for pages without a socket, shown by the same badge.

const AGAIN_MS = 2000; // wait after a failed request
const REPEAT_MS = 5000; // the same for a request that is made once
const MAX_AGAIN_MS = 30_000; // the wait doubles while the server answers with a failure

const TOO_MANY = 429; // requests of the account

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
    /** @type {'connecting' | 'live' | 'offline' | 'refused' | 'deleted' | 'unavailable'} */
    this.state = 'connecting';
    this.heardAt = 0;
    this.failures = 0; // answers with a failure, one after the other
    this.ended = false;
    this.outcome = 'complete'; // text of the badge once it has ended
    /** @type {ReturnType<typeof setTimeout> | 0} */
    this.timer = 0;
    addEventListener('offline', () => this.ended || this.#become('offline'));
    addEventListener('online', () => this.ended || this.now());
    // a refusal may be over when the user returns from another tab, perhaps with a new login
    addEventListener('visibilitychange', () => this.state !== 'refused' || document.hidden || this.now());
  }

  /** Requests at once. */
  async now() {
    clearTimeout(this.timer);
    try {
      const more = await this.ask();
      Object.assign(this, { heardAt: Date.now(), ended: !more, failures: 0 });
      this.#become('live');
      this.onError(null);
      if (more) this.#later(this.ms);
    } catch (caught) {
      const error = /** @type {Error & {status?: number}} */ (caught);
      this.onError(error);
      this.#failed(error);
    }
  }

  /** @param {Error & {status?: number}} error */
  #failed(error) {
    const { status, message } = error;
    if (status === 404 && this.heardAt) {
      this.ended = true;
      this.#become(/ was deleted/.test(message) ? 'deleted' : 'unavailable'); // perhaps it went to another team
    } else if (isPassing(error)) {
      this.#become('offline');
      this.failures = status === 0 ? 0 : this.failures + 1;
      this.#later(Math.min(AGAIN_MS * 2 ** Math.max(0, this.failures - 1), MAX_AGAIN_MS));
    } else if (isRefusal(error)) this.#become('refused');
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
 * True if a later request may succeed: the connection was lost, the server failed, or the account sent too many.
 *
 * @param {Error & {status?: number}} error
 */
export const isPassing = ({ status }) => status === 0 || status === TOO_MANY || (status ?? 0) >= 500;

/**
 * Makes a request again after its failure, if a later one may succeed.
 *
 * @param {Error & {status?: number}} error
 * @param {() => unknown} again
 * @returns {ReturnType<typeof setTimeout> | undefined} its timer
 */
export function repeatAfter(error, again) {
  return isPassing(error) ? setTimeout(again, REPEAT_MS) : undefined;
}

/**
 * True if the server has refused the request, and would refuse it again.
 *
 * @param {Error & {status?: number}} error
 */
export const isRefusal = (error) => error.status !== undefined && !isPassing(error);
