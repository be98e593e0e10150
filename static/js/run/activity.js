// What a run waits for, as its page says it: asked again while it waits, because its sentence says for how long.

import * as http from '../core/api.js';
import { browser } from '../core/browser.js';

const AGAIN_MS = 2000;

export class Activity {
  /**
   * stream: of the run; say(text, bad) shows a sentence, '' none. world, api: the browser and the server.
   */
  constructor(runId, stream, say, world = browser, api = http) {
    Object.assign(this, { runId, say, world, api, timer: 0 });
    stream.addEventListener('status', ({ detail }) => this.#told(detail));
    stream.addEventListener('deleted', () => world.cancel(this.timer));
  }

  #told({ status, message, activity }) {
    this.say(activity?.text ?? message ?? '', status === 'failed' || activity?.state === 'stalled');
    this.world.cancel(this.timer);
    if (activity) this.timer = this.world.later(AGAIN_MS, () => this.#ask());
  }

  /** A server that does not answer is told by the badge of the connection. */
  async #ask() {
    const again = () => (this.timer = this.world.later(AGAIN_MS, () => this.#ask()));
    const asked = this.timer;
    const run = await this.api.get(`/api/runs/${this.runId}/`).catch(() => null);
    if (asked !== this.timer) return; // a status has come meanwhile
    if (run) this.#told(run);
    else again();
  }
}
