// Options of a new run: name, seed, mode and speed; folded: slot length, horizon, and the scheduler's parameters.

import { MAX_SLOT_MIN, wholeNumber } from '../ui/fields/form-field.js';
import { parameterField, readParameters } from '../ui/fields/parameter-field.js';
import { fill, h } from '../ui/dom.js';
import { number, plural } from '../util/format.js';
import { CLOCK_SPEEDS, speedText } from '../util/speeds.js';
import { MODES } from '../util/run-modes.js';

const MINUTE = 60_000;
const option = (value, text, selected = false) => h('option', { value, selected }, text);

function field(title, control, help) {
  return h(
    'div',
    { class: 'field' },
    h('label', { for: control.id }, title),
    control,
    help ? h('span', { class: 'help' }, help) : null,
  );
}

export class Options {
  /** onChange(): a value that the check depends on has changed. */
  constructor(onChange) {
    this.name = h('input', { id: 'f-name', maxlength: 200, placeholder: 'named after trace and scheduler' });
    this.seed = h('input', { id: 'f-seed', type: 'number', min: 0, value: 0, required: true });
    this.mode = h(
      'select',
      { id: 'f-mode', name: 'mode' },
      option('batch', 'Batch: as fast as possible'),
      option('live', 'Live: paced by a clock'),
    );
    this.speedSelect = h(
      'select',
      { id: 'f-speed' },
      CLOCK_SPEEDS.map((speed) => option(speed, speedText(speed), speed === 3600)),
    );
    this.serverCount = h('input', { id: 'f-servers', type: 'number', min: 2, max: 20000, value: 60 });
    this.slotInput = h('input', { id: 'f-slot', type: 'number', min: 0.001, max: MAX_SLOT_MIN, step: 'any' });
    this.horizonInput = h('input', { id: 'f-horizon', type: 'number', min: 1 });
    this.speed = field('Speed', this.speedSelect, 'Simulated time per second');
    this.servers = field('Servers to generate', this.serverCount, 'Half edge, half cloud');
    this.modeField = field('Mode', this.mode);
    this.parameterBox = h('div', { class: 'form wide', id: 'parameters' });
    this.summary = h('summary', {}, 'Advanced');
    this.note = h('p', { class: 'muted small wide', id: 'f-race-note' });
    const fields = h(
      'div',
      { class: 'form' },
      field('Slot length, min', this.slotInput, 'Duration of a slot of slotted schedulers'),
      field(
        'Horizon, slots',
        this.horizonInput,
        'Schedulers that plan ahead reject jobs that cannot finish within it; by default it follows from the jobs',
      ),
      this.note,
      this.parameterBox,
    );
    this.advanced = h('details', { class: 'wide', id: 'advanced' }, this.summary, fields);
    // a hidden field cannot be corrected
    this.advanced.addEventListener('invalid', () => (this.advanced.open = true), true);
    const seedHelp = 'Runs with equal inputs and seeds have equal logs, byte for byte';
    this.nodes = [
      this.servers,
      field('Name', this.name),
      field('Seed', this.seed, seedHelp),
      this.modeField,
      this.speed,
      this.advanced,
    ];
    for (const box of [this.parameterBox, this.slotInput]) box.addEventListener('change', onChange);
    this.mode.addEventListener('change', () => this.#paced());
    this.several = false;
    this.#paced();
  }

  /** Fits the fields to what is chosen. @param {{ scheduler: any, several: boolean, cluster: any }} chosen */
  show({ scheduler, several, cluster }) {
    this.several = several;
    this.mode.disabled = several; // a race is compared when it has ended
    if (several) this.mode.value = 'batch';
    this.#paced();
    fill(this.note, several ? `The other schedulers of the race run with their default parameters.` : null);
    if (scheduler && this.parameterBox.dataset.of !== scheduler.name) {
      this.parameterBox.dataset.of = scheduler.name;
      fill(this.parameterBox, scheduler.parameters.map(parameterField));
      const count = plural(scheduler.parameters.length, 'parameter');
      fill(this.summary, `Advanced: slot length, horizon, ${count} of ${scheduler.title}`);
    }
    this.slotInput.placeholder = cluster ? `the cluster's own: ${number(cluster.slot_ms / MINUTE)} min` : '60 min';
    this.horizonInput.placeholder = !cluster
      ? '100 slots'
      : cluster.horizon_slots
        ? `the cluster's own: ${plural(cluster.horizon_slots, 'slot')}`
        : 'default: from the jobs, if the scheduler needs a horizon';
  }

  /** @param {string} text */
  horizonHint(text) {
    this.horizonInput.placeholder = text;
  }

  /** True if a cluster is generated, so that its number of servers is asked. */
  set generated(is) {
    this.servers.hidden = !is;
    this.serverCount.required = is; // a hidden field cannot be filled in
  }

  get parameters() {
    return readParameters(this.parameterBox);
  }

  /** Slot length in ms, or 0 for that of the cluster. */
  get slot() {
    const minutes = Number(this.slotInput.value);
    return minutes > 0 && minutes <= MAX_SLOT_MIN ? Math.round(minutes * MINUTE) : 0;
  }

  /** The values; an Error names the field that is wrong. */
  read() {
    const { paced } = MODES[this.mode.value];
    return {
      name: this.name.value,
      seed: wholeNumber(this.seed, 'Seed') ?? 0,
      servers: this.servers.hidden ? undefined : wholeNumber(this.serverCount, 'Servers', 2),
      horizon_slots: wholeNumber(this.horizonInput, 'Horizon', 1),
      slot_ms: this.slotInput.value === '' ? undefined : Math.round(Number(this.slotInput.value) * MINUTE),
      pace: { mode: this.mode.value, ...(paced ? { speed: Number(this.speedSelect.value) } : {}) },
    };
  }

  #paced() {
    this.speed.hidden = !MODES[this.mode.value].paced;
  }
}
