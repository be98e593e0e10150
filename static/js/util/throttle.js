// Throttling of requests to the server and of computations while the page is live.

/**
 * An action, usually a request, that starts at most once per `ms` and never twice at the same time. Calls while it runs
 * lead to one more run after it.
 */
export class Later {
  /**
   * @param {number} ms at most once in this time
   * @param {() => Promise<unknown>} action
   */
  constructor(ms, action) {
    this.ms = ms;
    this.action = action;
    /** @type {ReturnType<typeof setTimeout> | 0} */
    this.timer = 0;
    this.busy = false;
    this.again = false;
    this.last = -Infinity;
  }

  ask() {
    if (this.busy) return void (this.again = true);
    this.timer ||= setTimeout(() => this.#run(), Math.max(60, this.last + this.ms - performance.now()));
  }

  async #run() {
    this.timer = 0;
    this.busy = true;
    this.last = performance.now();
    try {
      await this.action();
    } finally {
      this.busy = false;
      if (this.again) {
        this.again = false;
        this.ask();
      }
    }
  }
}

/**
 * Runs action now, and again after `ms` if it was requested in between.
 *
 * @param {number} ms
 * @param {() => void} action
 */
export function atMost(ms, action) {
  let waiting = false;
  let last = -Infinity;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(
      () => {
        waiting = false;
        last = performance.now();
        action();
      },
      Math.max(0, last + ms - performance.now()),
    );
  };
}
