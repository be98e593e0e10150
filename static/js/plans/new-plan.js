// Form for a new plan: its scheduler, and the kind of its changes.

import { get, post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { fill, h } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { field } from '../ui/fields/form-field.js';
import { parameterField, readParameters } from '../ui/fields/parameter-field.js';
import { sentence } from '../util/format.js';

const PLAN_TYPES = [
  ['order', 'Order: nice values of waiting jobs'],
  ['placement', 'Placement: begin times that expire, and required nodes'],
];
const USUAL = 'easy';

export class NewPlan {
  /** onMade(): after a plan was requested. */
  constructor(form, { name, onMade }) {
    this.form = form;
    this.name = name;
    this.onMade = onMade;
    this.scheduler = field(
      'Scheduler',
      h('select', { id: 'scheduler' }),
      'The jobs that run or wait now are simulated with it; the plan is based on that run.',
    );
    const kinds = PLAN_TYPES.map(([value, text]) => h('option', { value }, text));
    this.kind = field('Changes', h('select', { id: 'kind' }, kinds));
    this.part = new PagePart('schedulers of the form');
    this.button = h('button', { class: 'primary', disabled: true }, 'Make a plan');
    this.problem = h('p', { class: 'error wide', role: 'alert', hidden: true });
    this.note = h('span', { class: 'muted', role: 'status', hidden: true });
    this.parameters = h('div', { class: 'form' });
    const more = h('details', { class: 'whole' }, h('summary', {}, 'Parameters of the scheduler'), this.parameters);
    this.scheduler.input.addEventListener('change', () => this.#declared());
    fill(
      form,
      this.scheduler.element,
      this.kind.element,
      more,
      h('div', { class: 'wide bar' }, this.button, this.note),
      this.problem,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#make();
    });
    this.#list();
  }

  /** acting: the rule as received from the server. */
  paint({ possible }) {
    this.button.disabled = Boolean(possible);
    this.note.textContent = sentence(possible);
    this.note.hidden = !possible;
  }

  async #list() {
    const known = await this.part.load(get('/api/schedulers/'), () => this.#list());
    if (!known) return;
    const able = known.filter((one) => !one.unavailable);
    this.known = new Map(able.map((one) => [one.name, one]));
    fill(
      this.scheduler.input,
      able.map(({ name, title }) => h('option', { value: name, selected: name === USUAL }, title)),
    );
    this.#declared();
  }

  #declared() {
    fill(this.parameters, (this.known.get(this.scheduler.input.value)?.parameters ?? []).map(parameterField));
  }

  async #make() {
    this.button.disabled = true;
    this.problem.hidden = true;
    try {
      const parameters = readParameters(this.parameters);
      const body = { scheduler: this.scheduler.input.value, kind: this.kind.input.value, parameters };
      await post(`/api/live/${this.name}/proposals/`, body);
      this.onMade();
    } catch (error) {
      logError(error);
      this.problem.textContent = error.message;
      this.problem.hidden = false;
    } finally {
      this.button.disabled = false;
    }
  }
}
