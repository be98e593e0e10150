// The workbench: panels that are moved between two columns, hidden or enlarged. The server keeps the arrangement for
// each account.

import { $, $$, fill, h } from '../ui/dom.js';
import { openBelow } from '../ui/popover.js';
import { hasSideColumn } from './side-column.js';

const COLUMNS = ['main', 'side'];
const DRAG_PX = 6; // a shorter movement of a panel's title is a click

/**
 * @typedef {{main: string[], side: string[], hidden: string[]}} Arrangement ids of panels, in order
 */

/**
 * The arrangement with panel `id` moved: by -1 or +1 within its column, or to the end of the other column for by = 0.
 *
 * @param {Arrangement} now
 * @param {string} id
 * @param {number} by
 * @returns {Arrangement}
 */
export function moved(now, id, by) {
  const from = now.main.includes(id) ? 'main' : 'side';
  const to = by ? from : from === 'main' ? 'side' : 'main';
  const rest = now[from].filter((one) => one !== id);
  if (to !== from) return { ...now, [from]: rest, [to]: [...now[to], id] };
  // a hidden neighbour is passed over
  let place = now[from].indexOf(id) + by;
  while (now.hidden.includes(now[from][place])) place += by;
  rest.splice(Math.min(Math.max(0, place), rest.length), 0, id);
  return { ...now, [from]: rest };
}

/**
 * The arrangement with panel `id` before panel `before`, or at the end of `column` for before = null.
 *
 * @param {Arrangement} now
 * @param {string} id
 * @param {'main' | 'side'} column
 * @param {string | null} before
 * @returns {Arrangement}
 */
export function placed(now, id, column, before) {
  if (id === before) return now;
  const next = { ...now, main: now.main.filter((one) => one !== id), side: now.side.filter((one) => one !== id) };
  const at = before === null ? -1 : next[column].indexOf(before);
  next[column].splice(at < 0 ? next[column].length : at, 0, id);
  return next;
}

/**
 * A kept arrangement, corrected to the panels that there are: unknown ones are left out, new ones stay where `usual`
 * has them.
 *
 * @param {any} kept
 * @param {Arrangement} usual
 * @returns {Arrangement}
 */
export function fitted(kept, usual) {
  const all = [...usual.main, ...usual.side];
  const list = (/** @type {any} */ ids) => (Array.isArray(ids) ? ids.filter((id) => all.includes(id)) : []);
  const main = [...new Set(list(kept?.main))];
  const side = [...new Set(list(kept?.side))].filter((id) => !main.includes(id));
  const known = [...main, ...side];
  for (const name of COLUMNS) {
    const column = name === 'main' ? main : side;
    for (const id of usual[name]) if (!known.includes(id)) column.splice(usual[name].indexOf(id), 0, id);
  }
  return { main, side, hidden: list(kept?.hidden) };
}

export class Workbench {
  /**
   * element: holds the columns [data-column]; button: opens the list of panels; kept: the stored arrangement, or null;
   * keep(arrangement) stores it; actions(id): further [text, act] of a panel's menu.
   */
  constructor(element, button, { kept = null, keep = (_kept) => {}, actions = (_section) => [] }) {
    this.element = element;
    this.button = button;
    this.actions = actions;
    this.keep = keep;
    this.enlarged = null;
    this.columns = Object.fromEntries(COLUMNS.map((name) => [name, $(`[data-column="${name}"]`, element)]));
    this.usual = { ...this.#seen(), hidden: [] };
    this.now = fitted(kept, this.usual);
    this.menu = h('div', { class: 'menu', id: 'panel-menu', popover: 'auto', role: 'group' });
    this.list = h('div', { class: 'menu', id: 'panel-list', popover: 'auto', role: 'group', 'aria-label': 'Panels' });
    element.append(this.menu);
    button.after(this.list);
    button.popoverTargetElement = this.list;
    openBelow(this.list, button);
    this.list.addEventListener('beforetoggle', ({ newState }) => newState === 'open' && this.#paintList());
    for (const section of this.#sections()) this.#equip(section);
    addEventListener('keydown', (/** @type {any} */ { key, target }) => {
      if (key === 'Escape' && this.enlarged && !target.closest?.('dialog, [popover]')) this.enlarge(null);
    });
    if (JSON.stringify(this.now) !== JSON.stringify(this.usual)) this.#apply();
  }

  /** Shows a panel alone, over the whole window; null: all again. */
  enlarge(id) {
    this.enlarged = this.enlarged === id ? null : id;
    for (const section of this.#sections()) section.classList.toggle('enlarged', section.id === this.enlarged);
    document.body.classList.toggle('one-panel', this.enlarged !== null);
    if (id) $('.panel-menu', $(`#${id}`))?.focus({ preventScroll: true });
  }

  #change(next) {
    this.now = next;
    this.#apply();
    this.keep(next);
  }

  #sections() {
    return $$('[data-column] > section', this.element);
  }

  /** Panels that do not apply to this run now. */
  #absent() {
    return this.#sections().flatMap(({ id, hidden }) => (hidden ? [id] : []));
  }

  #seen() {
    const ids = (name) => $$(':scope > section', this.columns[name]).map(({ id }) => id);
    return { main: ids('main'), side: ids('side') };
  }

  #apply() {
    for (const name of COLUMNS)
      this.now[name].forEach((id, place) => {
        const section = $(`#${id}`);
        const there = $$(':scope > section', this.columns[name])[place];
        if (there !== section) this.columns[name].insertBefore(section, there ?? null);
      });
    for (const section of this.#sections())
      section.classList.toggle('hidden-panel', this.now.hidden.includes(section.id));
  }

  #equip(section) {
    const title = titleOf(section);
    const button = h(
      'button',
      { type: 'button', class: 'quiet panel-menu', title: 'Move, hide or enlarge', 'aria-label': `Panel ${title}` },
      '⋯',
    );
    const header = $('header', section);
    let actions = $('.actions', header);
    if (!actions) header.append((actions = h('div', { class: 'actions' })));
    actions.append(button);
    const close = h('button', { type: 'button', class: 'panel-close', title: 'Restore the panel (Esc)' }, 'Close');
    close.addEventListener('click', () => {
      this.enlarge(null);
      button.focus({ preventScroll: true });
    });
    header.append(close);
    button.addEventListener('click', () => this.#open(section, button));
    this.#drag(section, $('h2', section));
  }

  #open(section, button) {
    const { id } = section;
    const column = this.now.main.includes(id) ? 'main' : 'side';
    const passed = [...this.now.hidden, ...this.#absent()];
    const shown = this.now[column].filter((one) => !passed.includes(one));
    const place = shown.indexOf(id);
    const move = (by) => () => {
      const { hidden } = this.now;
      this.#change({ ...moved({ ...this.now, hidden: passed }, id, by), hidden });
    };
    const items = [
      [this.enlarged === id ? 'Restore' : 'Enlarge', () => this.enlarge(id)],
      place > 0 && ['Move up', move(-1)],
      place < shown.length - 1 && ['Move down', move(1)],
      hasSideColumn() && [column === 'main' ? 'Move to the side column' : 'Move to the main column', move(0)],
      ['Hide', () => this.#change({ ...this.now, hidden: [...this.now.hidden, id] })],
      ...this.actions(section),
    ].filter(Boolean);
    const act = (action) => () => {
      this.menu.hidePopover();
      action();
      (button.checkVisibility() ? button : this.button).focus({ preventScroll: true });
    };
    this.menu.setAttribute('aria-label', `Panel ${titleOf(section)}`);
    fill(
      this.menu,
      items.map(([text, action]) => h('button', { type: 'button', class: 'quiet', onclick: act(action) }, text)),
    );
    this.menu.showPopover();
    const { right, bottom } = button.getBoundingClientRect();
    const room = document.documentElement;
    this.menu.style.left = `${Math.max(4, right - this.menu.offsetWidth)}px`;
    this.menu.style.top = `${Math.max(4, Math.min(bottom + 4, room.clientHeight - this.menu.offsetHeight - 4))}px`;
    $('button', this.menu)?.focus();
  }

  #paintList() {
    const there = this.#sections().filter(({ hidden }) => !hidden);
    const boxes = there.map((section) => {
      const box = h('input', { type: 'checkbox', checked: !this.now.hidden.includes(section.id) });
      box.addEventListener('change', () => {
        const others = this.now.hidden.filter((id) => id !== section.id);
        this.#change({ ...this.now, hidden: box.checked ? others : [...others, section.id] });
      });
      return h('label', {}, box, titleOf(section));
    });
    const reset = () => {
      this.#change(structuredClone(this.usual));
      this.list.hidePopover();
    };
    fill(this.list, boxes, h('button', { type: 'button', class: 'quiet', onclick: reset }, 'Default arrangement'));
  }

  /** A drag of the title puts the panel before the one under the pointer. */
  #drag(section, title) {
    let from = null;
    title.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || event.pointerType === 'touch') return; // a touch scrolls the page
      from = [event.clientX, event.clientY];
      title.setPointerCapture(event.pointerId);
    });
    const target = ({ clientX, clientY }) => {
      const under = document.elementFromPoint(clientX, clientY);
      const column = /** @type {any} */ (under?.closest('[data-column]'));
      if (!column) return null;
      const over = under.closest('[data-column] > section');
      const box = over?.getBoundingClientRect();
      const before = over && clientY > box.top + box.height / 2 ? over.nextElementSibling : (over ?? null);
      return { column, before: before?.id ?? null, mark: over };
    };
    const mark = (found) => {
      for (const one of this.#sections()) one.classList.toggle('drop', one === found?.mark && one !== section);
    };
    title.addEventListener('pointermove', (event) => {
      if (from && Math.hypot(event.clientX - from[0], event.clientY - from[1]) > DRAG_PX) mark(target(event));
    });
    const end = (event) => {
      const far = from && Math.hypot(event.clientX - from[0], event.clientY - from[1]) > DRAG_PX;
      from = null;
      mark(null);
      const found = far && event.type === 'pointerup' ? target(event) : null;
      if (found) this.#change(placed(this.now, section.id, found.column.dataset.column, found.before));
    };
    title.addEventListener('pointerup', end);
    title.addEventListener('pointercancel', end);
  }
}

const titleOf = (section) => $('h2', section).textContent;
