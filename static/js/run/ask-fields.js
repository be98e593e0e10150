// Fields in which a job to preview differs from the one that it copies: one line for each, a number with its unit or a
// text.

import { Refusal } from '../core/client-errors.js';
import { $, $$, fill, h } from '../ui/dom.js';
import { number } from '../util/format.js';
import { TITLES, fieldTitle } from '../util/job-fields.js';

/** Units by the end of a field's name, each with its size in the unit of the field; the first is the default. */
const UNITS = {
  _ms: [
    ['s', 1000],
    ['ms', 1],
    ['min', 60_000],
    ['h', 3_600_000],
    ['days', 86_400_000],
  ],
  _mb: [
    ['MB', 1],
    ['GB', 1000],
  ],
  _gb: [
    ['GB', 1],
    ['TB', 1000],
  ],
  _gbps: [['Gbps', 1]],
};
const PARTS = {
  gpu: 'GPUs',
  cpu: 'vCPUs',
  memory: 'GB',
  storage: 'GB',
  bandwidth: 'Gbps',
  priority: '',
  sensitivity: 'per slot',
  target_slots: 'slots',
};
const PART_TITLES = { priority: 'Priority', sensitivity: 'Time sensitivity', target_slots: 'Target completion time' };
const FIXED = ['id', 'arrival_ms', 'provenance', 'earlier_sizes']; // the preview sets them
const WHOLE = ['worker', 'ps', 'utility']; // fields of several numbers, which are chosen one by one
const DIGITS = 12; // of a number in another unit, without the error of the multiplication
const DURATION = 'run_ms'; // of a job of a real cluster

/**
 * One field that can differ: now: its value in the job to copy, undefined if unknown; isNumber: whether it takes one.
 *
 * @typedef {{name: string, title: string, now: any, isNumber: boolean, units: [string, number][]}} Choice
 */

/** @param {string} name @param {any} now @returns {Choice} */
function choice(name, now, title = fieldTitle(name)) {
  const [, part] = name.split('.');
  const end = Object.keys(UNITS).find((suffix) => name.endsWith(suffix));
  const units = part ? [[PARTS[part] ?? '', 1]] : end ? UNITS[end] : [['', 1]];
  return { name, title, now, isNumber: typeof now === 'number', units };
}

/**
 * The fields that can differ, by title: those of the job to copy, then those that it does not have.
 *
 * @param {{name: string, value: any}[]} fields of the job to copy
 * @param {boolean} measured whether the job is one of a real cluster, which has a duration
 * @returns {[Choice[], Choice[]]}
 */
export function choicesOf(fields, measured) {
  const known = fields.filter(({ name, value }) => !FIXED.includes(name) && value !== null);
  const own = known.flatMap(({ name, value }) =>
    WHOLE.includes(name)
      ? Object.entries(value).map(([part, now]) => choice(`${name}.${part}`, now, PART_TITLES[part]))
      : [choice(name, value)],
  );
  if (measured) own.push({ ...choice(DURATION, 0, 'Duration'), now: undefined });
  const others = Object.keys(TITLES)
    .filter((name) => !FIXED.includes(name) && !known.some((one) => one.name === name))
    .map((name) => choice(name, undefined));
  const byTitle = (a, b) => a.title.localeCompare(b.title);
  return [own.sort(byTitle), others.sort(byTitle)];
}

/**
 * The value in the unit of the field. A number that is none is refused; other fields take a text, a number or JSON.
 *
 * @param {Choice} of @param {string} text @param {number} factor
 */
export function valueOf({ title, isNumber }, text, factor) {
  const given = text.trim();
  if (given === '') throw new Refusal(`${title}: enter a value, or remove the line.`);
  if (isNumber) {
    const value = Number(given);
    if (!Number.isFinite(value)) throw new Refusal(`${title}: “${given}” is not a number.`);
    return Number((value * factor).toPrecision(DIGITS));
  }
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

/** [name, value] pairs as changes of a job; a part of a field is joined with the other parts, which stay. */
export function changesOf(pairs, fields) {
  const changes = {};
  for (const [name, value] of pairs) {
    const [whole, part] = name.split('.');
    const now = fields.find((field) => field.name === whole)?.value;
    changes[whole] = part ? { ...(changes[whole] ?? now), [part]: value } : value;
  }
  return changes;
}

export class ChangedFields {
  /** element: the place of the lines. */
  constructor(element, measured) {
    this.element = element;
    this.measured = measured;
    this.fields = []; // of the job to copy
    this.made = 0; // lines so far, for their ids
  }

  /** Another job is copied: its values are shown, and the chosen fields stay. */
  of(fields) {
    this.fields = fields;
    for (const line of $$('.changed-field', this.element)) this.#offer(line, $('select', line).value);
  }

  add() {
    const line = h('div', { class: 'changed-field', id: `ask-field-${++this.made}` });
    this.element.append(line);
    this.#offer(line, '');
    $('select', line).focus();
  }

  /** The changes, as the API takes them; a Refusal names what is missing. */
  read() {
    const pairs = $$('.changed-field', this.element).map((line) => {
      const chosen = this.#chosen($('select', line).value);
      if (!chosen) throw new Refusal('Select the field that differs, or remove the line.');
      const input = $('input', line);
      const text = input.validity?.badInput ? 'this' : input.value;
      return [chosen.name, valueOf(chosen, text, Number($('.unit', line).value ?? 1) || 1)];
    });
    return changesOf(pairs, this.fields);
  }

  #chosen(name) {
    return choicesOf(this.fields, this.measured)
      .flat()
      .find((one) => one.name === name);
  }

  #offer(line, name) {
    const [own, others] = choicesOf(this.fields, this.measured);
    const option = (one) => h('option', { value: one.name, selected: one.name === name }, one.title);
    const select = h(
      'select',
      { 'aria-label': 'Field', onchange: () => this.#value(line, select.value) },
      h('option', { value: '', selected: !name }, 'Select a field'),
      own.map(option),
      h('optgroup', { label: 'Not stated by this job' }, others.map(option)),
    );
    const remove = h('button', { type: 'button', class: 'quiet', onclick: () => line.remove() }, 'Remove');
    const kept = $('input', line)?.value ?? '';
    const unit = $('.unit', line)?.value;
    fill(line, select, h('span', { class: 'field-value' }), remove);
    this.#value(line, name, kept, unit);
  }

  /** The control of the value, with what it is now. */
  #value(line, name, kept = '', unit = undefined) {
    const place = $('.field-value', line);
    const chosen = this.#chosen(name);
    if (!chosen) return fill(place);
    const { title, now, isNumber, units } = chosen;
    const fitting = units.filter(([, factor]) => now >= factor).sort((a, b) => b[1] - a[1])[0] ?? units[0];
    const factor = Number(unit) || fitting[1];
    const shown = (of) =>
      now === undefined || typeof now === 'object' ? '' : isNumber ? `now ${number(now / of, 3)}` : `now ${now}`;
    const input = h('input', {
      'aria-label': title,
      value: kept,
      placeholder: shown(factor),
      ...(isNumber ? { type: 'number', step: 'any' } : { type: 'text' }),
    });
    const pick =
      units.length > 1
        ? h(
            'select',
            {
              class: 'unit',
              'aria-label': `Unit of ${title}`,
              onchange: () => (input.placeholder = shown(Number(pick.value))),
            },
            units.map(([text, of]) => h('option', { value: of, selected: of === factor }, text)),
          )
        : h('span', { class: 'unit muted' }, units[0][0]);
    fill(place, input, pick);
  }
}
