// Check of the form of a new run on the server: jobs that the scheduler would reject on the cluster.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { fill, h } from '../ui/dom.js';
import { sentence } from '../util/format.js';
import { repeatAfter } from '../util/poll.js';

/**
 * Answer of the check: {cluster, warnings, own_horizon}. Without `cluster`, that of the answer is the newest one on
 * which all jobs fit, or null.
 *
 * @param {{ trace: string, scheduler: string, parameters: object, cluster?: string, slot_ms?: string }} choices
 */
export function suitability({ parameters, ...choices }) {
  const query = new URLSearchParams({ ...choices, parameters: JSON.stringify(parameters) });
  return get(`/api/scenarios/suitability/?${query}`);
}

/** Box with the warnings about the choices of a form; the newest check wins. */
export class Warnings {
  constructor() {
    this.box = h('div', { class: 'notice wide', id: 'f-warnings', role: 'status', hidden: true });
    this.asked = 0;
  }

  /**
   * Shows the warnings of these choices, or why they could not be checked; null if a newer check was begun.
   *
   * @param {Parameters<typeof suitability>[0]} choices
   * @param {() => void} again begins the check again after a failure that may pass
   */
  async check(choices, again) {
    const mine = ++this.asked;
    const answer = await suitability(choices).catch((error) => {
      logError(error);
      repeatAfter(error, () => mine === this.asked && again());
      return { warnings: [sentence(`The check of these choices failed: ${error.message}`)] };
    });
    if (mine !== this.asked) return null;
    fill(
      this.box,
      answer.warnings.map((line) => h('p', {}, line)),
    );
    this.box.hidden = !answer.warnings.length;
    return answer;
  }

  /** Hides the warnings, as without a cluster. */
  clear() {
    this.asked++;
    this.box.hidden = true;
  }
}
