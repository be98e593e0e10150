// The table of every list: sorted, paged, with columns that can be hidden, groups of rows, and rows as cards on a
// narrow page.

import { ColumnChoice } from './column-choice.js';
import { $, fill, h } from './dom.js';
import { pager } from './pager.js';

const MAX_NARROW_COLUMNS = 4; // columns that fit a narrow page side by side
const PAGE_ROWS = 100; // of a table that is paged in the browser
const PAGE_CARDS = 10; // of any table on a page so narrow that its rows are cards
const NARROW = '(max-width: 600px)'; // as in responsive.css
const NONE = '–';

/** Rows of a page of a table: as many as given, fewer where rows are cards. */
export const rowsOfPage = (rows) => (globalThis.matchMedia?.(NARROW).matches ? Math.min(rows, PAGE_CARDS) : rows);

/**
 * A column of a table.
 *
 * @typedef {object} Column
 * @property {string} title also the label of its cells where rows are cards
 * @property {any} [heading] content of its head in place of the title
 * @property {(row: any) => any} cell content of its cell in a row: text, a node, or a list of them
 * @property {boolean} [rowHead] its cells are the heads of their rows
 * @property {boolean} [number] aligned to the right
 * @property {boolean} [wide] long text
 * @property {string} [key] it can be sorted
 * @property {string} [hint] of its head
 * @property {string} [class] of its cells
 * @property {string} [headClass] of its head
 * @property {(row: any) => Record<string, any>} [properties] further properties of its cell in a row
 * @property {boolean} [spanned] `instead` replaces its cells
 * @property {boolean} [sparse] it is left out while no row has a value
 * @property {boolean} [once] it is left out while several rows share one value, which the page states once (sharedText)
 */

/**
 * A table element. onPick(row, whether Ctrl was held) makes rows clickable; selected(row); keyOf(row) names a row, so
 * that the focus finds it again; rowProperties(row): further properties of its element.
 * sort: the key of the column, with - for falling; onSort(sort). On a narrow page a row of many columns is a card
 * without the cells that have no value; cards: whether it is, otherwise the table scrolls sideways.
 * groupOf(row): title of the group that the row is in, or null; each group begins with a row of its title.
 * instead(row): {content, class} across the columns that are `spanned`, or null. className: further classes of the
 * table; label: its name for screen readers; frozen: heads of rows stay in view when it scrolls sideways.
 *
 * @param {Column[]} columns
 * @param {any[]} rows
 */
export function table(columns, rows, /** @type {any} */ options = {}) {
  const { sort = '', onSort, cards = true, groupOf, className, label, frozen } = options;
  const head = h(
    'tr',
    {},
    columns.map((column) => headOf(column, sort, onSort)),
  );
  const body = rows.map((row, i) => {
    const group = groupOf?.(row) ?? null;
    const begins = group !== null && (i === 0 || groupOf(rows[i - 1]) !== group);
    return [begins ? groupRow(group, columns.length) : null, rowOf(columns, row, options)];
  });
  const names = [cards && isMany(columns) && 'list', frozen && 'frozen', className].filter(Boolean).join(' ');
  return h('table', { class: names || null, 'aria-label': label }, h('thead', {}, head), h('tbody', {}, body));
}

function rowOf(columns, row, { onPick, selected, keyOf, rowProperties, instead }) {
  const pick = onPick
    ? {
        class: 'pick',
        tabindex: 0,
        onclick: (event) => onPick(row, event.ctrlKey || event.metaKey),
        onkeydown: (event) => entered(event, () => onPick(row, event.ctrlKey || event.metaKey)),
      }
    : {};
  const state = { 'data-job': keyOf?.(row), 'aria-selected': selected?.(row) ? 'true' : null };
  const message = instead?.(row) ?? null;
  const first = columns.findIndex(({ spanned }) => spanned);
  const span = ({ class: own, content }) =>
    h('td', { colspan: columns.filter(({ spanned }) => spanned).length, class: own }, content);
  return h(
    'tr',
    { ...pick, ...state, ...rowProperties?.(row) },
    columns.map((column, i) => {
      if (!message || !column.spanned) return cellOf(column, row);
      return i === first ? span(message) : null;
    }),
  );
}

const groupRow = (title, count) => h('tr', { class: 'group' }, h('th', { scope: 'rowgroup', colspan: count }, title));

/** True if columns do not fit a narrow page side by side: too many, or several of long content. */
const isMany = (columns) => columns.length > MAX_NARROW_COLUMNS || columns.filter(({ wide }) => wide).length > 1;

function headOf(/** @type {any} */ { title, heading, key, number, hint, headClass }, sort, onSort) {
  const arrow = key && sort === key ? ' ▲' : key && sort === `-${key}` ? ' ▼' : '';
  const order = { ' ▲': 'ascending', ' ▼': 'descending' }[arrow] ?? null;
  const flip = () => onSort(sort === key ? `-${key}` : key);
  const text = key && onSort ? h('button', { type: 'button', onclick: flip }, title + arrow) : (heading ?? title);
  const names = [number && 'number', headClass].filter(Boolean).join(' ');
  return h(
    title ? 'th' : 'td',
    { class: names || null, scope: title ? 'col' : null, 'aria-sort': order, title: hint },
    text,
  );
}

function cellOf({ title, number, wide, class: own, rowHead, properties, cell }, row) {
  const { class: further, ...rest } = properties?.(row) ?? {};
  const names = [number && 'number', wide && 'wide', own, further].filter(Boolean).join(' ');
  const [tag, place] = rowHead ? ['th', { scope: 'row' }] : ['td', { 'data-label': title }];
  const element = h(tag, { class: names || null, ...place, ...rest }, cell(row));
  if (!rowHead && element.textContent === NONE) element.classList.add('none');
  return element;
}

/** Handles Enter on the row itself, not in its controls. */
function entered(event, act) {
  if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
  event.preventDefault(); // otherwise the key would press the button that gets the focus
  act();
}

/**
 * A table with sorting, pages and a choice of columns. With `onChange({sort} or {page})` the server sorts and divides
 * into pages; the new rows come by `paint`. Without it, columns with `value(row)` are sorted here, and pages are made
 * here.
 * `onSort()` is called after each change of the order, for example to request the missing rows.
 */
export class DataTable {
  /**
   * box: it is filled; name: by which hidden columns are kept; pages: the element of the pager; tools: where the menu
   * of columns goes.
   */
  constructor(
    box,
    /** @type {any} */ {
      name,
      columns,
      pages,
      tools,
      size = rowsOfPage(PAGE_ROWS),
      sort = '',
      onChange,
      onSort,
      ...rest
    },
  ) {
    this.box = box;
    this.size = size;
    this.sort = sort;
    this.onChange = onChange;
    this.onSort = onSort;
    this.rest = rest;
    this.page = 1;
    this.rows = [];
    this.none = null;
    this.columns = columns.map((column) => ({
      ...column,
      key: column.key ?? (column.value ? column.title : undefined),
    }));
    this.choice = new ColumnChoice(name, this.columns, () => this.again());
    this.pages = pages ?? h('div', { class: 'pager' });
    if (!pages) box.after(this.pages);
    const place = tools ?? toolsOf(box);
    const last = $(':scope > .panel-menu', place); // the menu of a panel stays its last control
    for (const part of [this.choice.button, this.choice.menu]) place.insertBefore(part, last);
  }

  /** Shows these rows, or `none` where there are none. count and page: of rows that the server has cut. */
  paint(rows, { count = rows.length, page = this.page, none = null } = {}) {
    this.rows = rows;
    this.count = count;
    this.page = page;
    this.none = none;
    this.again();
  }

  /** Renders the same rows again: another one is selected, or a column is hidden. */
  again() {
    const { rows, sort, onChange } = this;
    const here = onChange ? rows : this.#cut();
    const columns = this.choice.shown(this.columns, here);
    const onSort = (next) => {
      this.#change({ sort: next, page: 1 });
      this.onSort?.();
    };
    fill(this.box, rows.length || !this.none ? table(columns, here, { ...this.rest, sort, onSort }) : this.none);
    const place = { page: this.page, size: this.size, count: this.count ?? 0, rows: here.length };
    fill(
      this.pages,
      pager(place, (page) => this.#change({ page })),
    );
    this.choice.button.hidden = !rows.length;
  }

  /** Removes its menu and its pager, before another table replaces it. */
  remove() {
    this.choice.button.remove();
    this.choice.menu.remove();
    fill(this.pages);
  }

  #change(changes) {
    Object.assign(this, changes);
    if (this.onChange) this.onChange(changes);
    else this.again();
  }

  /** The rows of this page in their order. */
  #cut() {
    const falling = this.sort.startsWith('-');
    const column = this.columns.find(({ key, value }) => value && key === this.sort.replace(/^-/, ''));
    const rows = column
      ? [...this.rows].sort((a, b) => compared(column.value(a), column.value(b)) * (falling ? -1 : 1))
      : this.rows;
    this.page = Math.max(1, Math.min(this.page, Math.ceil(rows.length / this.size)));
    return rows.slice((this.page - 1) * this.size, this.page * this.size);
  }
}

/** Sorts rows without a value last in ascending order. */
function compared(a, b) {
  const [none, other] = [a ?? null, b ?? null].map((value) => value === null);
  if (none || other) return Number(none) - Number(other);
  return typeof a === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
}

/** The place for tools in the header of the card that the box is in. */
function toolsOf(box) {
  const header = box.closest('.card').querySelector('header');
  const found = header.querySelector('.actions');
  if (found) return found;
  const made = h('div', { class: 'actions' });
  header.append(made);
  return made;
}

/** An empty list: what it is for, and the next action [text, address, or function of a button]. */
export function empty(title, text, /** @type {any} */ [name, target]) {
  const action =
    typeof target === 'string'
      ? h('a', { class: 'button', href: target }, name)
      : h('button', { type: 'button', onclick: target }, name);
  return h('div', { class: 'empty' }, h('strong', {}, title), text, h('p', {}, action));
}

/** Next action of a page without runs: only operators start them. */
export const firstRun = () =>
  document.body.dataset.role === 'operator'
    ? ['Start a run', '/scenarios/']
    : ['Show the experiments', '/experiments/'];

/** 'n of N' of a list that may be truncated; nouns: 'rows'. */
export function shown(count, total, nouns) {
  const n = (value) => value.toLocaleString('en-US');
  const noun = total === 1 ? nouns.replace(/s$/, '') : nouns;
  return count < total ? `showing ${n(count)} of ${n(total)} ${noun}` : `${n(total)} ${noun}`;
}
