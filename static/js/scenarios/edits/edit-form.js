// Form of one edit: its verb, its time, and the declared parameters of the verb; times can be typed in several forms.

import { offeredOption } from '../../ui/fields/offered.js';
import { $, $$, fill, h } from '../../ui/dom.js';
import { EXAMPLE, momentText, parseTime, timeProblem, timeText } from '../../util/time-text.js';
import { parameterField } from '../../ui/fields/parameter-field.js';
import { PASTE_HELP, isLines, pastedJobs } from '../pasted-jobs.js';

const isNumber = (kind) => kind === 'int' || kind === 'float';

export class EditForm {
  /**
   * verbs: from /api/edits/; schedulers: from /api/schedulers/, whose parameters become fields; training: the training
   * model of the scenario, which another scheduler keeps; leastMs: the earliest moment of an edit, with which the form
   * begins; laterMs: the same of a verb that cannot take effect from the beginning on; onDone(edits, place): one edit,
   * or those of pasted lines; onFilled() when `filled` changes; onInput() after every input
   */
  constructor(element, { verbs, schedulers = [], training, leastMs, laterMs, wholeTitle, onDone, onFilled, onInput }) {
    this.element = element;
    this.verbs = verbs;
    this.schedulers = schedulers;
    this.training = training;
    this.leastMs = leastMs;
    this.laterMs = laterMs;
    this.wholeTitle = wholeTitle;
    this.onDone = onDone;
    this.onFilled = onFilled;
    this.onInput = onInput;
    this.place = null; // of the edit that is changed; null: a new one
    this.filled = false; // whether it holds input that is not in the list of edits
    element.addEventListener('input', () => this.#fill(true));
    element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#hand();
    });
    this.show(verbs.find(({ name }) => name === 'fail_servers') ?? verbs.find((one) => !one.unavailable), {});
  }

  /** Adds the input to the edits, so that none is lost; false if it is invalid: the form shows why. */
  take() {
    return !this.filled || this.#hand();
  }

  #hand() {
    const edits = this.#all();
    if (edits) this.onDone(edits, this.place);
    return edits !== null;
  }

  /** The edits of the input as it is, for their preview; null if it is none, or not valid yet. */
  peek() {
    if (!this.filled) return null;
    this.quiet = true;
    try {
      return this.#all();
    } finally {
      this.quiet = false;
    }
  }

  /** The edit, or those of the pasted lines; null if the input is invalid. */
  #all() {
    const lines = $('#e-lines', this.element)?.value ?? '';
    if (!lines.trim()) {
      const edit = this.read();
      return edit && [edit];
    }
    const atMs = this.#moment();
    if (atMs === null) return null;
    const { edits, error } = pastedJobs(lines, atMs);
    return edits ?? this.say(error);
  }

  #fill(filled) {
    this.onInput?.();
    if (this.leave) this.leave.hidden = !filled && this.place === null;
    if (filled === this.filled) return;
    this.filled = filled;
    this.onFilled();
  }

  /** Starts a new edit. */
  begin(verb, edit) {
    this.show(verb, edit);
    this.#fill(true);
  }

  /** Fills the form with the edit at index `place`, to change it. */
  change(edit, place) {
    this.place = place;
    this.#fill(false);
    this.show(
      this.verbs.find(({ name }) => name === edit.verb),
      edit,
    );
    this.element.scrollIntoView({ block: 'nearest' });
    $('[data-parameter]', this.element)?.focus();
  }

  /** Enters servers that were selected in the cluster view; a verb without servers is replaced by one that has them. */
  choose(names) {
    const field = () => $('[data-parameter="servers"]', this.element) ?? $('[data-parameter="like"]', this.element);
    if (!field() || this.verb.name === 'add_jobs')
      this.show(
        this.verbs.find(({ name }) => name === 'fail_servers'),
        { at_ms: this.momentOf() ?? undefined },
      );
    const control = field();
    control.value = control.dataset.parameter === 'like' ? (names[0] ?? '') : names.join(' ');
    this.#fill(true);
  }

  /** Enters a time, and the duration or the end of what lasts, as dragged over the time axis. */
  span(fromMs, toMs) {
    $('#e-at', this.element).value = timeText(fromMs);
    const lasts = { for_ms: toMs - fromMs, from_ms: fromMs, to_ms: toMs };
    if (toMs > fromMs)
      for (const [name, ms] of Object.entries(lasts)) {
        const control = $(`[data-parameter="${name}"]`, this.element);
        if (control) control.value = timeText(ms);
      }
    this.#fill(true);
  }

  show(verb, edit) {
    this.verb = verb;
    const choice = h(
      'select',
      { id: 'e-verb' },
      this.verbs.map((one) => offeredOption(one, one.name, one.name === verb.name)),
    );
    choice.addEventListener('change', () =>
      this.show(
        this.verbs.find(({ name }) => name === choice.value),
        { ...this.kept(), at_ms: this.momentOf() ?? undefined },
      ),
    );
    const begins = timeText(this.begins(verb, edit));
    const at = h('input', { id: 'e-at', type: 'text', value: begins, 'aria-describedby': 'e-at-help' });
    const ofScheduler = verb.parameters.some(({ name }) => name === 'scheduler') && this.schedulers.length > 0;
    const fields = verb.parameters
      .filter(({ name }) => !ofScheduler || name !== 'parameters')
      .map((declared) => this.field(declared, edit[declared.name]));
    const own = h('div', { class: 'form wide scheduler-fields' });
    if (ofScheduler) this.#schedulerFields(own, fields, edit.parameters ?? '');
    this.error = h('p', { class: 'error wide', role: 'alert', hidden: true });
    const leave = this.place === null ? 'Clear' : 'Cancel';
    const hidden = !this.filled && this.place === null;
    this.leave = h('button', { type: 'button', class: 'quiet', hidden, onclick: () => this.reset() }, leave);
    fill(
      this.element,
      h(
        'div',
        { class: 'field' },
        h('label', { for: 'e-verb' }, 'Edit'),
        choice,
        h('span', { class: 'help' }, verb.about),
      ),
      h(
        'div',
        { class: 'field' },
        h('label', { for: 'e-at' }, 'Time of the edit'),
        at,
        h('span', { class: 'help', id: 'e-at-help' }, `${this.wholeTitle}; ${EXAMPLE}`),
      ),
      fields,
      verb.name === 'add_jobs' && this.place === null ? this.#lines() : null,
      ofScheduler ? own : null,
      this.error,
      h('div', { class: 'wide' }, h('button', {}, this.place === null ? 'Add' : 'Change'), ' ', this.leave),
    );
  }

  /** Field of lines of jobs; several lines that are pasted elsewhere in the form go there too. */
  #lines() {
    const box = h('textarea', { id: 'e-lines', rows: 3, spellcheck: 'false', 'aria-describedby': 'e-lines-help' });
    this.element.onpaste = (event) => {
      const text = event.clipboardData?.getData('text') ?? '';
      if (event.target === box || !box.isConnected || !isLines(text)) return;
      event.preventDefault();
      box.value = text;
      box.focus();
      this.#fill(true);
    };
    return h(
      'div',
      { class: 'field wide' },
      h('label', { for: 'e-lines' }, 'Or paste lines of jobs (CSV)'),
      box,
      h('span', { class: 'help', id: 'e-lines-help' }, PASTE_HELP),
    );
  }

  /** Fields of the parameters of the chosen scheduler; text: those of the edit, name=value pairs. */
  #schedulerFields(box, fields, text) {
    const choice = fields.map((element) => $('[data-parameter="scheduler"]', element)).find(Boolean);
    const show = (given) => {
      const chosen = this.schedulers.find(({ name }) => name === choice.value);
      const kept = chosen?.parameters.find(({ name }) => name === 'model')?.choices?.includes(this.training);
      given ??= kept ? { model: this.training } : {};
      fill(
        box,
        (chosen?.parameters ?? []).map((declared) => parameterField({ ...declared, id: `e-of-${declared.name}` })),
      );
      for (const control of $$('[data-parameter]', box)) {
        control.dataset.ofScheduler = control.dataset.parameter;
        delete control.dataset.parameter;
        control.value = given[control.dataset.ofScheduler] ?? control.value;
      }
    };
    choice.addEventListener('change', () => show(null));
    const isNew = !text && this.place === null;
    show(isNew ? null : Object.fromEntries(text.split(/\s+/).map((pair) => pair.split(/=(.*)/, 2))));
  }

  /** The time in the form of an edit. */
  begins(verb, edit) {
    const atMs = edit.at_ms ?? this.leastMs;
    return atMs === 0 && verb.later ? this.laterMs : atMs;
  }

  reset() {
    this.place = null;
    this.show(this.verb, {});
    this.#fill(false);
  }

  field(declared, value) {
    const isTime = declared.unit === 'ms';
    const shown = isTime
      ? {
          ...declared,
          type: 'str',
          unit: '',
          low: null,
          high: null,
          default: declared.default === null ? null : timeText(declared.default),
          help: `${declared.help}; ${EXAMPLE}`,
        }
      : declared;
    const element = parameterField(shown);
    const control = $('[data-parameter]', element);
    if (isTime) control.dataset.time = declared.optional ? 'optional' : 'needed';
    control.dataset.kind = declared.type;
    if (declared.optional) control.placeholder = /empty: ([^;]+)/.exec(declared.help)?.[1] ?? 'automatic';
    if (value !== undefined && value !== null) control.value = isTime ? timeText(value) : String(value);
    return element;
  }

  /** Input that another verb can keep: named servers or jobs. */
  kept() {
    return Object.fromEntries(
      $$('[data-parameter="servers"], [data-parameter="jobs"]', this.element)
        .filter((control) => control.value)
        .map((control) => [control.dataset.parameter, control.value]),
    );
  }

  momentOf() {
    const at = $('#e-at', this.element);
    return at ? parseTime(at.value) : null;
  }

  /** Time at which the edit takes effect; null if that is no possible time: the form shows why. */
  #moment() {
    const atMs = this.momentOf();
    if (atMs === null) return this.say(`Time of the edit: ${timeProblem($('#e-at', this.element).value)}`);
    if (atMs < this.leastMs)
      return this.say(
        `Time of the edit: ${momentText(atMs)} is before the fork; the earliest time is ${momentText(this.leastMs)}.`,
      );
    return atMs;
  }

  /** The edit in the form of the API, or null if a time is invalid: the form shows which. */
  read() {
    const edit = { verb: this.verb.name, at_ms: this.#moment() };
    if (edit.at_ms === null) return null;
    for (const control of $$('[data-parameter]', this.element)) {
      const { parameter, time, kind } = control.dataset;
      if (time) {
        if (control.value.trim() === '' && time === 'optional') continue;
        edit[parameter] = parseTime(control.value);
        if (edit[parameter] === null) return this.say(`${this.#title(parameter)}: ${timeProblem(control.value)}`);
      } else if (isNumber(kind) && control.value === '' && control.dataset.start !== '') {
        // also what cannot be read as a number has no value; the server would take its default instead
        return this.say(`${this.#title(parameter)}: enter a number, for example ${control.dataset.start}.`);
      } else if (control.value !== '' || kind === 'str')
        edit[parameter] = isNumber(kind)
          ? Number(control.value)
          : kind === 'bool'
            ? control.value === 'true'
            : control.value;
    }
    const own = $$('[data-of-scheduler]', this.element).filter((control) => control.value !== control.dataset.start);
    if (own.length) edit.parameters = own.map(({ dataset, value }) => `${dataset.ofScheduler}=${value}`).join(' ');
    return edit;
  }

  #title(name) {
    return this.verb.parameters.find((declared) => declared.name === name).title;
  }

  say(sentence) {
    if (this.quiet) return null;
    this.error.hidden = false;
    this.error.textContent = sentence;
    return null;
  }
}
