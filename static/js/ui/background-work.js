// Background work on a live cluster: a line with its state, and buttons to cancel it and to compute it again.

import { post, remove } from '../core/api.js';
import { capital } from '../util/format.js';
import { h, setText } from './dom.js';

/** @typedef {'computing' | 'cancelled' | ''} WorkState */

/**
 * 'The drift audit is being computed …'; '' where there is nothing to say.
 *
 * @param {WorkState} state
 * @param {string} name with its article: 'the drift audit'
 * @param {boolean} many whether the name is a plural
 */
export function workText(state, name, many = false) {
  const subject = capital(name);
  if (state === 'computing') return `${subject} ${many ? 'are' : 'is'} being computed …`;
  if (state === 'cancelled') return `${subject} ${many ? 'were' : 'was'} cancelled.`;
  return '';
}

export class BackgroundWork {
  /**
   * Fills an element. address: accepts DELETE (cancel) and POST (compute again); changed: called after both.
   *
   * @param {HTMLElement} element
   * @param {{address: string, name: string, many?: boolean, changed: () => unknown}} options
   */
  constructor(element, { address, name, many = false, changed }) {
    this.element = element;
    this.name = name;
    this.many = many;
    this.changed = changed;
    this.text = h('span', { class: 'muted', role: 'status' });
    this.cancel = h('button', { type: 'button', hidden: true, onclick: () => this.#change(remove, address) }, 'Cancel');
    this.request = h(
      'button',
      { type: 'button', hidden: true, onclick: () => this.#change(post, address) },
      'Compute again',
    );
    this.failure = h('p', { class: 'error', role: 'alert', hidden: true });
    element.append(this.text, ' ', this.cancel, this.request, this.failure);
  }

  /** @param {WorkState} state */
  paint(state) {
    const operator = document.body.dataset.role === 'operator';
    this.element.hidden = !state && !this.failure.textContent;
    setText(this.text, workText(state, this.name, this.many));
    this.cancel.hidden = !operator || state !== 'computing';
    this.request.hidden = !operator || state !== 'cancelled';
  }

  /**
   * @param {(address: string) => Promise<unknown>} ask
   * @param {string} address
   */
  async #change(ask, address) {
    this.cancel.hidden = true;
    this.request.hidden = true;
    setText(this.failure, '');
    try {
      await ask(address);
    } catch (error) {
      setText(this.failure, /** @type {Error} */ (error).message);
    }
    this.failure.hidden = !this.failure.textContent;
    await this.changed();
  }
}
