// What an operator can do with a run: pause, resume, step, speed, cancel. A viewer's page has no place for it.

import { post } from '../lib/api.js';
import { fill, h } from '../lib/dom.js';

const SPEEDS = [[1, '1 s'], [60, '1 min'], [600, '10 min'], [1800, '30 min'], [3600, '1 h'], [21600, '6 h'], [86400, '1 d']];
const ACTIVE = ['queued', 'running', 'paused'];

export class Operate {
  constructor(element, runId, onError) {
    Object.assign(this, { element, runId, onError });
  }

  /** status: the newest status message. */
  paint(status) {
    const signature = [status.status, status.wanted, status.mode, status.clock?.speed].join();
    if (!this.element || signature === this.signature) return;
    this.signature = signature;
    if (!ACTIVE.includes(status.status)) return void fill(this.element);
    const live = status.mode === 'live';
    const paused = status.wanted === 'paused' || status.status === 'paused';
    const button = (text, verb, properties = {}) => h('button', { type: 'button', id: `run-${verb}`, onclick: () => this.#do(verb), ...properties }, text);
    fill(this.element,
      paused ? button('Resume run', 'resume', { class: 'primary' }) : button('Pause run', 'pause'),
      live && paused ? button('Step', 'step', { title: 'Let the next event happen' }) : null,
      live ? this.#speed(status.clock?.speed) : null,
      h('button', { type: 'button', class: 'danger', id: 'run-cancel', onclick: () => confirm('Cancel this run for good? Its log stays.') && this.#do('cancel') }, 'Cancel run'));
  }

  #speed(current) {
    const known = SPEEDS.some(([value]) => value === current) || !current;
    const options = known ? SPEEDS : [...SPEEDS, [current, `${current} s`]].sort((a, b) => a[0] - b[0]);
    return h('select', { id: 'run-speed', 'aria-label': "Speed of the run's clock", onchange: (event) => this.#do('clock', { speed: Number(event.target.value) }) },
      options.map(([value, text]) => h('option', { value, selected: value === current }, `clock ${text} / s`)));
  }

  async #do(verb, body) {
    try {
      await post(`/api/runs/${this.runId}/${verb}/`, body);
    } catch (error) {
      this.onError(error);
    }
    this.signature = null;
  }
}
