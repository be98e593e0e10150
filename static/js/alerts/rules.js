// Rules of alerts: their thresholds as fields that are stored when they change, a switch, and a form for a new one.

import { offeredOption } from '../ui/fields/offered.js';
import { get, patch, post, remove } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { rulesOf } from '../util/run-modes.js';
import { ACTIVE } from '../core/active-runs.js';
import { confirmed } from '../ui/confirm.js';
import { DataTable } from '../ui/data-table.js';
import { fill, h } from '../ui/dom.js';
import { field } from '../ui/fields/form-field.js';
import { LEVELS, aboutText } from '../util/alert-words.js';
import { levelCell, targetCell } from './columns.js';

const ALL = 500; // rows of one request

export class Rules {
  /** say(sentence): shows an error beside the table; form: element for a new rule, null for viewers. */
  constructor(box, { operator, say, form }) {
    this.operator = operator;
    this.say = say;
    this.form = form;
    this.kinds = new Map();
    this.rows = [];
    this.table = new DataTable(box, { name: 'alert-rules', columns: this.#columns(), size: ALL });
  }

  async load() {
    const [kinds, rules] = await Promise.all([get('/api/alert-rules/kinds/'), get(`/api/alert-rules/?size=${ALL}`)]);
    this.kinds = new Map(kinds.map((kind) => [kind.rule, kind]));
    this.#paint(rules.results);
    if (this.form) await this.#build();
  }

  #paint(rows) {
    this.rows = rows;
    this.table.paint(rows);
  }

  #columns() {
    return [
      { title: 'Rule', value: (rule) => rule.title, wide: true, cell: (rule) => this.#title(rule) },
      { title: 'Target', cell: (rule) => this.#target(rule) },
      { title: 'Thresholds', wide: true, cell: (rule) => this.#thresholds(rule) },
      { title: 'Urgency', value: (rule) => rule.level, cell: (rule) => this.#level(rule) },
      {
        title: 'Clearing time',
        hint: 'Time for which a finding must be absent before its alert ends',
        cell: (rule) => this.#clear(rule),
      },
      { title: 'State', value: (rule) => Number(!rule.enabled), cell: (rule) => this.#switch(rule) },
      ...(this.operator ? [{ title: '', cell: (rule) => this.#remove(rule) }] : []),
    ];
  }

  #title({ rule, title, error }) {
    return [
      h('strong', {}, title),
      h('div', { class: 'muted small' }, this.kinds.get(rule)?.summary ?? ''),
      error ? h('div', { class: 'error small' }, `Cannot be checked: ${error}`) : null,
    ];
  }

  #target({ rule, target }) {
    const all = h('span', { class: 'muted' }, `all ${aboutText(this.kinds.get(rule)?.about ?? [])}`);
    return target ? targetCell(target) : all;
  }

  #thresholds(rule) {
    const declared = this.kinds.get(rule.rule)?.parameters ?? [];
    return h(
      'div',
      { class: 'thresholds' },
      declared.map((one) => this.#threshold(rule, one)),
    );
  }

  #threshold(rule, { name, help, unit, low, high, type }) {
    const value = rule.parameters[name];
    if (!this.operator) return h('div', {}, h('span', { class: 'muted' }, `${help} `), `${value} ${unit}`);
    const input = h('input', {
      type: 'number',
      id: `rule-${rule.id}-${name}`,
      value: String(value),
      min: low,
      max: high,
      step: type === 'int' ? 1 : 'any',
      required: true,
    });
    input.addEventListener('change', () => this.#store(rule, { parameters: { [name]: input.value } }, input));
    return h('label', {}, h('span', {}, help), input, h('span', {}, unit));
  }

  #level(rule) {
    if (!this.operator) return levelCell(rule.level);
    const select = h(
      'select',
      { id: `rule-${rule.id}-level`, 'aria-label': `Urgency of the rule ${rule.title}` },
      LEVELS.map((one) => h('option', { value: one, selected: one === rule.level }, one)),
    );
    select.addEventListener('change', () => this.#store(rule, { level: select.value }, select));
    return select;
  }

  #clear(rule) {
    if (!this.operator) return `${rule.clear_s} s`;
    const label = `Time in s after which alerts of the rule ${rule.title} end`;
    const input = h('input', {
      type: 'number',
      id: `rule-${rule.id}-clear`,
      'aria-label': label,
      value: String(rule.clear_s),
      min: 0,
      max: 86_400,
      step: 1,
      required: true,
    });
    input.addEventListener('change', () => this.#store(rule, { clear_s: input.value }, input));
    return h('span', { class: 'nowrap' }, input, h('span', { class: 'muted' }, ' s'));
  }

  #switch(rule) {
    const box = h('input', {
      type: 'checkbox',
      id: `rule-${rule.id}-on`,
      'aria-label': `Rule ${rule.title} on`,
      disabled: !this.operator,
    });
    box.checked = rule.enabled;
    box.addEventListener('change', () => this.#store(rule, { enabled: box.checked }, box));
    return h('label', { class: 'nowrap' }, box, ' on');
  }

  #remove(rule) {
    if (!rule.target) return '';
    return h('button', { type: 'button', class: 'quiet danger', onclick: () => this.#removed(rule) }, 'Remove');
  }

  /**
   * Stores a change. The table is not painted again: another field may be edited meanwhile. A value that is refused
   * stays in its field, with the sentence of the server above the table.
   */
  async #store(rule, change, control) {
    try {
      Object.assign(rule, await patch(`/api/alert-rules/${rule.id}/`, change));
      control.removeAttribute('aria-invalid');
      this.say('');
    } catch (error) {
      logError(error);
      control.setAttribute('aria-invalid', 'true');
      if (control.type === 'checkbox') control.checked = rule.enabled;
      this.say(`${rule.title}: ${error.message}`);
    }
  }

  async #removed(rule) {
    const question = `Remove the rule ${rule.title} for ${rule.target}? The general rule applies again.`;
    if (!(await confirmed(question, 'Remove'))) return;
    try {
      await remove(`/api/alert-rules/${rule.id}/`);
      this.say('');
      this.#paint(this.rows.filter((row) => row.id !== rule.id));
    } catch (error) {
      logError(error);
      this.say(error.message);
    }
  }

  /** The form: a rule, and one of the targets that it can be about. */
  async #build() {
    const [clusters, runs] = await Promise.all([get('/api/connections/?size=500'), get('/api/runs/?size=200')]);
    const targets = [
      ...clusters.results.map(({ name }) => ({ target: `connection ${name}`, text: name, about: 'cluster' })),
      ...runs.results
        .filter((run) => rulesOf(run).simulated && ACTIVE.includes(run.status))
        .map((run) => ({
          target: `run ${run.id}`,
          text: `Run ${run.id} · ${run.scenario_name}`,
          about: rulesOf(run).paced ? 'run' : 'batch',
        })),
    ];
    const kinds = [...this.kinds.values()];
    const rule = field(
      'Rule',
      h(
        'select',
        { id: 'new-rule' },
        kinds.map((one) => offeredOption(one, one.rule)),
      ),
    );
    const target = field('Target', h('select', { id: 'new-target' }), 'Replaces the general rule for this target');
    const button = h('button', { class: 'primary' }, 'Add rule');
    const offer = () => {
      const { about } = this.kinds.get(rule.input.value);
      const fitting = targets.filter((one) => about.includes(one.about));
      fill(
        target.input,
        fitting.length ? null : h('option', { value: '' }, `no ${aboutText(about, 'or')} now`),
        fitting.map((one) => h('option', { value: one.target }, one.text)),
      );
      button.disabled = !fitting.length;
    };
    rule.input.addEventListener('change', offer);
    fill(this.form, rule.element, target.element, h('div', { class: 'actions' }, button));
    offer();
    this.form.onsubmit = (event) => {
      event.preventDefault();
      this.#add(rule.input.value, target.input.value);
    };
  }

  async #add(rule, target) {
    try {
      await post('/api/alert-rules/', { rule, target });
      this.say('');
      this.#paint((await get(`/api/alert-rules/?size=${ALL}`)).results);
    } catch (error) {
      logError(error);
      this.say(error.message);
    }
  }
}
