// Doing things not too often: what the server is asked for, and what is recomputed while the page is live.

/** What the server is asked for about the moment shown: at rest soon, while it plays now and then, never twice at once. */
export class Later {
  /** action() -> Promise; ms: at most once in this time. */
  constructor(ms, action) {
    Object.assign(this, { ms, action, timer: 0, busy: false, again: false, last: -Infinity });
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

/** Runs action now, and again after `ms` when it was asked for meanwhile. */
export function atMost(ms, action) {
  let waiting = false;
  let last = -Infinity;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      last = performance.now();
      action();
    }, Math.max(0, last + ms - performance.now()));
  };
}
