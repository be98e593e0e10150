// Choice by cards: a group of labelled radio buttons or check boxes with a small picture each.

import { $$, fill, h } from '../ui/dom.js';

const FILTERED_FROM = 9; // cards, from which on a field filters them
let fields = 0;

/**
 * @typedef {object} Card
 * @property {string} value
 * @property {string} title
 * @property {any[]} [lines] texts or elements below the title
 * @property {Node | null} [picture]
 * @property {string} [group] cards of one group stand together under its head
 * @property {boolean} [disabled]
 */

export class CardChoice {
  /**
   * key: of the pictures; name: of the inputs, and with `f-` the id of the element; several: check boxes in place of
   * radio buttons; heads: {group: nodes of its head}; onChange() after a choice by hand.
   *
   * @param {{ legend: string, key?: string, name: string, several?: boolean, heads?: Record<string, any>,
   *   onChange: () => void }} is
   */
  constructor({ legend, key = '', name, several = false, heads = {}, onChange }) {
    this.name = name;
    this.several = several;
    this.heads = heads;
    this.onChange = onChange;
    /** @type {string[]} the chosen values in the order of choice */
    this.values = [];
    this.list = h('div', { class: 'choice-list fades' });
    this.filter = h('input', {
      type: 'search',
      id: `f-filter-${fields++}`,
      placeholder: 'Filter',
      'aria-label': `Filter: ${legend}`,
      hidden: true,
    });
    this.filter.addEventListener('input', (event) => {
      event.stopPropagation();
      this.#narrow();
    });
    this.help = h('p', { class: 'help small', role: 'status', id: `f-${name}-help` });
    this.element = h(
      'fieldset',
      { class: 'choices', id: `f-${name}` },
      h('legend', {}, legend),
      this.filter,
      this.list,
      key ? h('p', { class: 'muted small' }, key) : null,
      this.help,
    );
    this.list.addEventListener('change', (event) => this.#chosen(event.target));
  }

  /** The chosen value, of several the first; '' without one. */
  get value() {
    return this.values[0] ?? '';
  }

  /** Chooses values without a call of onChange. */
  set value(value) {
    this.choose(value === '' ? [] : [value]);
  }

  /** @param {string[]} values */
  choose(values) {
    this.values = values.map(String);
    for (const input of this.#inputs()) input.checked = this.values.includes(input.value);
    const first = this.#inputs().find(({ checked }) => checked);
    /** @type {HTMLElement | null} */
    const card = first?.closest('.choice');
    if (card) this.list.scrollTop = Math.max(0, card.offsetTop - this.list.offsetTop - 40);
  }

  /** Shows cards; what is chosen stays chosen. @param {Card[]} cards */
  set(cards) {
    const groups = [...new Set(cards.map(({ group = '' }) => group))];
    fill(
      this.list,
      groups.map((group) => {
        const own = cards.filter((card) => (card.group ?? '') === group).map((card) => this.#card(card));
        if (!group) return own;
        const id = `f-${this.name}-${group}`;
        return h(
          'div',
          { role: 'group', 'aria-labelledby': id, class: 'choice-group' },
          h('div', { class: 'choice-head', id }, this.heads[group] ?? group),
          own,
        );
      }),
    );
    this.filter.hidden = cards.length < FILTERED_FROM;
    this.#narrow();
  }

  /** Replaces the text below a card, as when a check has come. @param {string} value @param {any[]} lines */
  note(value, lines) {
    const input = this.#inputs().find((one) => one.value === value);
    const note = input?.closest('.choice')?.querySelector('.choice-note');
    if (note) fill(note, lines);
  }

  #card({ value, title, lines = [], picture = null, disabled = false }) {
    const id = `f-${this.name}-${value}`;
    return h(
      'label',
      { class: 'choice', for: id, 'data-text': title.toLowerCase() },
      h('input', {
        type: this.several ? 'checkbox' : 'radio',
        name: this.name,
        id,
        value,
        checked: this.values.includes(String(value)),
        disabled,
      }),
      h('strong', {}, title),
      picture,
      lines.map((line) => h('span', { class: 'small' }, line)),
      h('span', { class: 'choice-note small' }),
    );
  }

  #inputs() {
    return /** @type {HTMLInputElement[]} */ ($$(`input[name="${this.name}"]`, this.list));
  }

  #chosen(input) {
    if (!this.several) this.values = [input.value];
    else if (input.checked) this.values = [...this.values, input.value];
    else this.values = this.values.filter((value) => value !== input.value);
    this.onChange();
  }

  #narrow() {
    const words = this.filter.hidden ? '' : this.filter.value.trim().toLowerCase();
    for (const card of $$('.choice', this.list)) card.hidden = !card.dataset.text.includes(words);
  }
}
