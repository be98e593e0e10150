// Reason why a run waits: polled while it waits, because the sentence states for how long.

import * as http from '../core/api.js';
import { browser } from '../core/sockets/browser.js';
import { PagePart } from '../ui/failures/page-part.js';

const AGAIN_MS = 2000;

export class Activity {
  /**
   * stream: of the run; say(text, bad) shows a sentence, '' none. env, api, part: the browser, the server, and the
   * part of the page that a notice names if a request fails.
   */
  constructor(runId, stream, say, env = browser, api = http, part = new PagePart('reason why the run waits')) {
    this.part = part;
    this.runId = runId;
    this.say = say;
    this.env = env;
    this.api = api;
    this.timer = 0;
    this.over = false; // the run was deleted: an answer that is on its way is ignored
    stream.addEventListener('status', ({ detail }) => this.#update(detail));
    stream.addEventListener('deleted', () => {
      env.cancel(this.timer);
      this.over = true;
      this.part.forget();
    });
  }

  #update({ status, message, activity }) {
    this.say(activity?.text ?? message ?? '', status === 'failed' || activity?.state === 'stalled');
    this.env.cancel(this.timer);
    if (activity) this.timer = this.env.later(AGAIN_MS, () => this.#ask());
  }

  async #ask() {
    const again = () => (this.timer = this.env.later(AGAIN_MS, () => this.#ask()));
    const asked = this.timer;
    const run = await this.part.load(this.api.get(`/api/runs/${this.runId}/`));
    if (this.over) return this.part.forget();
    if (asked !== this.timer) return; // a newer status has arrived
    if (run) this.#update(run);
    else again();
  }
}
