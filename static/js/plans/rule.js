// Permissions of plans on a cluster: the permission level, whose jobs plans may change, the acting process, and
// Stop all plans.

import { patch } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { confirmed } from '../ui/confirm.js';
import { fill, h, wholeDates } from '../ui/dom.js';
import { field, numberField } from '../ui/fields/form-field.js';
import { sentence, wall } from '../util/format.js';

export class Rule {
  /** onChange(): after the rule was stored. */
  constructor(element, actions, { name, operator, approver, onChange }) {
    this.element = element;
    this.actions = actions;
    this.name = name;
    this.operator = operator;
    this.approver = approver;
    this.onChange = onChange;
    this.state = h('div', { 'aria-live': 'polite' });
    this.form = null;
    this.problem = h('p', { class: 'error', role: 'alert', hidden: true });
  }

  /** acting: as received from the server. The form keeps what is being typed. */
  paint(acting) {
    this.acting = acting;
    if (!this.form) this.#build(acting);
    fill(this.state, this.#lines(acting));
    if (this.operator) fill(this.actions, this.#switch(acting));
  }

  #lines(rule) {
    const { level, levels, actor } = rule;
    const process = actor.running
      ? `Acting process on ${actor.host}${actor.account ? `, account ${actor.account}` : ''}.`
      : `No acting process: start it with manage.py act ${this.name}.`;
    return [
      h('p', {}, h('strong', {}, `Permission level ${level}, ${levels[level].name}. `), levels[level].about),
      level >= 2 ? h('p', { class: actor.running ? 'muted' : 'error' }, process) : null,
      actor.error ? h('p', { class: 'error' }, actor.error) : null,
      rule.stopped ? h('p', { class: 'error' }, wholeDates(stoppedText(rule))) : null,
    ];
  }

  #switch({ stopped, level }) {
    if ((!level && !stopped) || (stopped && !this.approver)) return null;
    return stopped
      ? h('button', { type: 'button', onclick: () => this.#store({ stopped: false }) }, 'Allow plans again')
      : h('button', { type: 'button', class: 'danger', onclick: () => this.#stop() }, 'Stop all plans');
  }

  async #stop() {
    const question = `Stop all plans for ${this.name}? No further change is sent, and all changes are undone.`;
    if (await confirmed(question, 'Stop all plans')) await this.#store({ stopped: true });
  }

  #build({ level, levels, queues, accounts, max_jobs: most, calibrated }) {
    this.form = h('form', { class: 'form', novalidate: true });
    if (this.approver) {
      const options = levels.map((one) =>
        h('option', { value: one.level, selected: one.level === level }, `${one.level} · ${one.name}`),
      );
      const names = (id, title, value) =>
        field(
          title,
          h('input', { id, value: value.join(', ') }),
          `${title} whose jobs a plan may change, separated by commas; empty: all`,
        );
      this.fields = {
        level: field('Permission level', h('select', { id: 'level' }, options)),
        queues: names('queues', 'Queues', queues),
        accounts: names('accounts', 'Accounts', accounts),
        max_jobs: numberField('max-jobs', 'Maximum number of jobs per plan', { whole: true, min: 1, value: most }),
      };
      this.fields.calibrated = field(
        'Forecasts',
        h(
          'select',
          { id: 'calibrated' },
          h('option', { value: 'yes', selected: calibrated }, 'must be calibrated'),
          h('option', { value: '', selected: !calibrated }, 'need not be calibrated'),
        ),
      );
      const button = h('button', { class: 'primary' }, 'Save');
      fill(
        this.form,
        Object.values(this.fields).map((one) => one.element),
        h('div', { class: 'actions' }, button),
        this.problem,
      );
      this.form.addEventListener('submit', (event) => {
        event.preventDefault();
        const { level, queues, accounts, max_jobs: most, calibrated } = this.fields;
        const jobs = most.value();
        if (Number.isNaN(jobs)) return most.say('must be a whole number of at least 1');
        this.#store({
          level: Number(level.input.value),
          queues: listed(queues.input.value),
          accounts: listed(accounts.input.value),
          max_jobs: jobs ?? null,
          calibrated: Boolean(calibrated.input.value),
        });
      });
    }
    fill(this.element, this.state, this.form);
  }

  async #store(values) {
    for (const one of Object.values(this.fields)) one.say('');
    this.problem.hidden = true;
    try {
      await patch(`/api/live/${this.name}/acting/`, values);
      this.onChange();
    } catch (error) {
      logError(error);
      const known = Object.entries(error.fields ?? {}).filter(([key]) => this.fields[key]);
      for (const [key, text] of known) this.fields[key].say(text);
      this.problem.textContent = known.length ? '' : error.message;
      this.problem.hidden = Boolean(known.length);
    }
  }
}

const listed = (text) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);

/** 'All plans are stopped (by ann, 2026-02-03 04:05 UTC).' */
export function stoppedText({ stopped, stopped_by: by, stopped_at: at }) {
  const who = [by && `by ${by}`, at && wall(at)].filter(Boolean).join(', ');
  return sentence(`${stopped.replace(/\.$/, '')}${who ? ` (${who})` : ''}`);
}
