// Operator controls of a run: pause, resume, step, speed, cancel; delete, once it has ended.
// Absent from a viewer's page.

import { confirmed } from '../ui/confirm.js';
import { post } from '../core/api.js';
import { rulesOf } from '../util/run-modes.js';
import { ACTIVE } from '../core/active-runs.js';
import { fill, h } from '../ui/dom.js';
import { CLOCK_SPEEDS, speedText } from '../util/speeds.js';
import { deleteRun } from './delete-run.js';

export class Operate {
  constructor(element, runId, name, onError) {
    this.element = element;
    this.runId = runId;
    this.name = name;
    this.onError = onError;
  }

  /** status: the newest status message. */
  paint(status) {
    const signature = [status.status, status.wanted, status.mode, status.clock?.speed].join();
    this.newest = status;
    if (!this.element || signature === this.signature) return;
    this.signature = signature;
    // a recorded run is controlled by its follow line
    const { simulated, paced } = rulesOf(status);
    if (!simulated && ACTIVE.includes(status.status)) return void fill(this.element);
    if (!ACTIVE.includes(status.status)) return void fill(this.element, this.#delete(status.last_seq));
    const paused = status.wanted === 'paused' || status.status === 'paused';
    const button = (text, verb, properties = {}) =>
      h('button', { type: 'button', id: `run-${verb}`, onclick: () => this.#do(verb), ...properties }, text);
    fill(
      this.element,
      paused ? button('Resume run', 'resume', { class: 'primary' }) : button('Pause run', 'pause'),
      paced && paused ? button('Step', 'step', { title: 'Process all events of the next instant' }) : null,
      paced ? this.#speed(status.clock?.speed) : null,
      h('button', { type: 'button', class: 'danger', id: 'run-cancel', onclick: () => this.#cancel() }, 'Cancel run'),
    );
  }

  async #cancel() {
    const question = 'Cancel this run? It cannot be resumed; its log is kept.';
    if (await confirmed(question, 'Cancel run', 'danger', 'Do not cancel')) this.#do('cancel');
  }

  #delete(events) {
    const act = async () => {
      try {
        if (await deleteRun({ id: this.runId, name: this.name, events })) location.assign('/');
      } catch (error) {
        this.onError(error);
      }
    };
    return h('button', { type: 'button', class: 'danger', id: 'run-delete', onclick: act }, 'Delete run');
  }

  #speed(current) {
    const speeds = [...new Set([...CLOCK_SPEEDS, current].filter(Boolean))].sort((a, b) => a - b);
    return h(
      'select',
      {
        id: 'run-speed',
        'aria-label': "Speed of the run's clock",
        onchange: (event) => this.#do('clock', { speed: Number(event.target.value) }),
      },
      speeds.map((speed) => h('option', { value: speed, selected: speed === current }, `clock ${speedText(speed)}`)),
    );
  }

  async #do(verb, body) {
    try {
      await post(`/api/runs/${this.runId}/${verb}/`, body);
    } catch (error) {
      this.onError(error);
      this.signature = null;
      this.paint(this.newest); // after a refusal the menu shows the speed of the run again
    }
    this.signature = null;
  }
}
