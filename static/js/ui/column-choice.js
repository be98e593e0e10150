// Menu of the columns of a table; the choice is stored in the browser under the table's name.

import { h } from './dom.js';
import { openBelow } from './popover.js';

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

  /** The columns that are shown. */
  shown(columns) {
    return columns.filter(({ title }) => !this.hidden.has(title));
  }

  #choice(title) {
    const box = h('input', { type: 'checkbox', checked: !this.hidden.has(title) });
    box.addEventListener('change', () => {
      if (box.checked) this.hidden.delete(title);
      else this.hidden.add(title);
      keep(this.name, [...this.hidden]);
      this.onChange();
    });
    return h('label', {}, box, title);
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
