// Menu of the columns of a table; the choice is stored in the browser under the table's name.

import { h, setText } from './dom.js';
import { openBelow } from './popover.js';

const NONE = '–';

/** Text of a cell of a column in a row. */
const textOf = ({ cell }, row) => h('span', {}, cell(row)).textContent;

/**
 * The text that several rows share in a column; null where they differ, or none has a value.
 *
 * @param {{cell: (row: any) => any}} column
 * @param {any[]} rows
 */
export function sharedText(column, rows) {
  if (rows.length < 2) return null;
  const first = textOf(column, rows[0]);
  return first !== NONE && rows.every((row) => textOf(column, row) === first) ? first : null;
}

/** Reason why a column is left out of a table of these rows; '' if it is shown. */
function leftOut(column, rows) {
  if (!rows.length) return '';
  if (column.sparse && rows.every((row) => textOf(column, row) === NONE)) return 'no values';
  return column.once && sharedText(column, rows) !== null ? 'equal in all rows' : '';
}

export class ColumnChoice {
  /**
   * name: of the table; columns: those with a title can be hidden, except the first; `spare` ones are until somebody
   * chooses; onChange().
   */
  constructor(name, columns, onChange) {
    const spare = columns.filter((column) => column.spare).map(({ title }) => title);
    this.name = name;
    this.onChange = onChange;
    this.hidden = new Set(kept(name) ?? spare);
    this.notes = new Map(); // title -> element of the menu that says why the column is left out
    this.fixed = columns.find(({ title }) => title)?.title;
    this.menu = h('div', {
      id: `columns-${name}`,
      class: 'menu',
      popover: 'auto',
      role: 'group',
      'aria-label': 'Columns',
    });
    this.button = h('button', { type: 'button', class: 'quiet', popovertarget: this.menu.id }, 'Columns');
    openBelow(this.menu, this.button);
    const choices = columns.filter(({ title }) => title && title !== this.fixed);
    this.menu.append(...choices.map(({ title }) => this.#choice(title)));
  }

  /** The columns that are shown of these rows; the menu says why others are left out. */
  shown(columns, rows = []) {
    return columns.filter((column) => {
      const why = leftOut(column, rows);
      const note = this.notes.get(column.title);
      if (note) setText(note, why);
      return !why && !this.hidden.has(column.title);
    });
  }

  #choice(title) {
    const box = h('input', { type: 'checkbox', checked: !this.hidden.has(title) });
    box.addEventListener('change', () => {
      if (box.checked) this.hidden.delete(title);
      else this.hidden.add(title);
      keep(this.name, [...this.hidden]);
      this.onChange();
    });
    const note = h('span', { class: 'muted small' });
    this.notes.set(title, note);
    return h('label', {}, box, title, note);
  }
}

/** The titles of columns that were hidden; null where nobody has chosen. */
function kept(name) {
  try {
    const found = JSON.parse(localStorage.getItem(`columns-${name}`) ?? 'null');
    return Array.isArray(found) ? found : null;
  } catch {
    return null; // as without storage
  }
}

function keep(name, titles) {
  try {
    localStorage.setItem(`columns-${name}`, JSON.stringify(titles));
  } catch {
    // Without storage the choice lasts for this page.
  }
}
