// The query parameters of a page. What cannot be read is named at the top of the page, with its rule and what is shown
// instead: a page never ignores a part of its address in silence.

import { $, h } from '../dom.js';

const MAX_SHOWN = 60; // characters of a value
const RUN = [
  ...['t', 'from', 'to', 'event', 'job', 'rows', 'colour', 'find', 'fold', 'filter', 'prices', 'log'],
  ...['events', 'kind', 'q', 'state', 'sort', 'page'],
];

/** Names of the parameters by path; a page that is not listed has none. @type {[RegExp, string[] | null][]} */
export const NAMES = [
  [/^\/$/, ['q', 'status', 'scheduler', 'view']],
  [/^\/runs\/\d+\/(servers\/\d+\/)?$/, RUN],
  [/^\/live\/[^/]+\/$/, RUN],
  [
    /^\/compare\/$/,
    [
      ...['runs', 'metrics', 'job', 'by', 'figure', 'rank', 'rows', 'color', 'against', 'race', 'filter'],
      ...['from', 'to', 't', 'kind', 'q', 'page', 'sort'],
    ],
  ],
  [/^\/audit\/$/, ['q', 'user', 'action', 'since', 'until', 'page']],
  [/^\/clusters\/$/, ['cluster']],
  [/^\/scenarios\/$/, ['trace', 'cluster']],
  [/^\/scenarios\/\d+\/$/, ['servers', 'verb']],
  [/^\/sweeps\/$/, ['scenario']],
  [/^\/sweeps\/\d+\/$/, ['figure']],
  [/^\/(login|api)\//, null], // the server reads them
];

/** @type {Set<string>} */
const told = new Set();

/** @param {string} text */
const cut = (text) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

/**
 * Shows a sentence about the address at the top of the page, once.
 *
 * @param {string} sentence
 */
function tell(sentence) {
  const box = $('#address-notes') ?? h('div', { class: 'notice', id: 'address-notes', role: 'status' });
  if (told.has(sentence) && box.isConnected) return;
  told.add(sentence);
  if (!box.isConnected) document.body.insertBefore(box, $('#content')?.nextSibling ?? document.body.firstChild);
  box.append(h('p', {}, sentence));
}

/**
 * Shows why the server refused a parameter of the address, and what is shown instead.
 *
 * @param {string} message
 * @param {string} instead
 */
export const tellRefused = (message, instead) => tell(`In the address: ${message.replace(/\.$/, '')}. ${instead}`);

/** Names the parameters of the address that the page does not have. */
export function tellUnknown() {
  const found = NAMES.find(([path]) => path.test(location.pathname));
  const known = found ? found[1] : [];
  if (!known) return;
  for (const name of new Set(new URLSearchParams(location.search).keys())) {
    if (known.includes(name)) continue;
    const names = known.length ? `; known: ${known.join(', ')}` : '; it has none';
    tell(`This page has no parameter “${cut(name)}”${names}. It is ignored.`);
  }
}

/** All of them, or the first of many. @param {string[]} known */
function some(known) {
  return known.length > 25 ? `${known.slice(0, 5).join(', ')} and ${known.length - 5} more` : known.join(', ');
}

export const url = {
  /**
   * A text, or null.
   *
   * @param {string} name
   */
  get: (name) => new URLSearchParams(location.search).get(name),

  /**
   * One of `known`; else `fallback`, with a sentence.
   *
   * @param {string} name
   * @param {string[]} known
   * @param {string} fallback
   * @param {string} instead what is shown: 'Jobs in any state are listed.'
   */
  choice(name, known, fallback, instead) {
    const text = this.get(name);
    if (text === null || text === '' || known.includes(text)) return text || fallback;
    this.refuse(name, `must be one of ${some(known.filter(Boolean))}`, instead);
    return fallback;
  },

  /**
   * A whole number, or null with a sentence.
   *
   * @param {string} name
   * @param {{from?: number, to?: number, instead: string}} rule
   */
  number(name, { from = 0, to = Number.MAX_SAFE_INTEGER, instead }) {
    const text = this.get(name);
    if (text === null || text === '') return null;
    const value = /^-?\d+$/.test(text) ? Number(text) : NaN;
    if (value >= from && value <= to) return value;
    const bounds = to < Number.MAX_SAFE_INTEGER ? `from ${from} to ${to}` : `of at least ${from}`;
    this.refuse(name, `must be a whole number ${bounds}`, instead);
    return null;
  },

  /**
   * States that the value of a parameter is not used.
   *
   * @param {string} name
   * @param {string} rule 'must be a whole number'
   * @param {string} instead
   */
  refuse(name, rule, instead) {
    tell(`“${name}” in the address ${rule}, got “${cut(this.get(name) ?? '')}”. ${instead}`);
  },

  /**
   * Writes parameters back without a new history entry.
   *
   * @param {Record<string, string | number | null | undefined>} changes
   */
  set(changes) {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === undefined || value === '') query.delete(name);
      else query.set(name, String(value));
    }
    const text = query.toString();
    const next = location.pathname + (text ? `?${text}` : '');
    if (next !== location.pathname + location.search) history.replaceState(null, '', next);
  },
};
