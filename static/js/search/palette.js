// Command palette: a dialog that finds pages, actions of the page, and whatever has a page by its name.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { $, $$, debounce, fill, h } from '../ui/dom.js';
import { number } from '../util/format.js';

const PAUSE_MS = 120; // after the last key, before the server is asked

/** @typedef {{title: string, detail?: string, href?: string, act?: () => void}} Entry */
/** @typedef {{title: string, count?: number, hits: Entry[]}} Group */

export class Palette {
  constructor() {
    this.run = $('main[data-run-id]')?.dataset.runId ?? null;
    this.asked = 0; // number of questions to the server
    this.input = h('input', {
      type: 'text',
      role: 'combobox',
      'aria-label':
        'Search pages, actions, runs, scenarios, traces, sweeps, experiments and live clusters' +
        (this.run ? ', jobs and servers' : ''),
      'aria-controls': 'palette-list',
      'aria-expanded': 'true',
      'aria-autocomplete': 'list',
      placeholder: this.run ? 'Page, action, run, trace, job, server' : 'Page, action, run, trace, live cluster',
      autocomplete: 'off',
      spellcheck: 'false',
      autofocus: true,
      oninput: () => this.#typed(),
      onkeydown: (event) => this.#key(event),
    });
    this.list = h('div', { id: 'palette-list', role: 'listbox', 'aria-label': 'Results' });
    this.status = h('p', { class: 'muted small', role: 'status' });
    this.dialog = h(
      'dialog',
      { class: 'card palette', 'aria-label': 'Search', onclick: (event) => this.#outside(event) },
      this.input,
      this.list,
      this.status,
    );
    this.ask = debounce(() => this.#ask(), PAUSE_MS);
    document.body.append(this.dialog);
  }

  open() {
    if (this.dialog.open) return;
    this.input.value = '';
    this.found = [];
    this.local = [...actions(), ...pages()];
    this.dialog.showModal();
    this.#paint();
    this.#ask();
  }

  #outside(event) {
    if (event.target === this.dialog) this.dialog.close(); // the backdrop
  }

  #typed() {
    this.#paint();
    this.ask();
  }

  async #ask() {
    const number = ++this.asked;
    const text = this.input.value.trim();
    const query = new URLSearchParams({ ...(text && { q: text }), ...(this.run && { run: this.run }) });
    try {
      const found = await get(`/api/search/?${query}`);
      if (number === this.asked) this.#show(found, '');
    } catch (error) {
      logError(error);
      if (number === this.asked) this.#show([], error.message);
    }
  }

  #show(found, failure) {
    this.found = found;
    this.failure = failure;
    this.#paint(true);
  }

  /**
   * answered: true if the groups from the server are results for the text; an entry that was chosen before they arrived
   * then stays chosen.
   */
  #paint(answered = false) {
    const chosen = answered && this.selected > 0 ? this.entries[this.selected] : null;
    const text = this.input.value.trim();
    const local = matching(this.local, text);
    const last = text ? local.length : 1; // without a text the pages come after what is new
    const groups = [...local.slice(0, last), ...(answered ? this.found : []), ...local.slice(last)];
    this.entries = groups.flatMap(({ hits }) => hits);
    let place = 0;
    fill(
      this.list,
      groups.map((group) =>
        h(
          'div',
          { role: 'group', 'aria-label': group.title },
          h('div', { class: 'kind', 'aria-hidden': 'true' }, group.title, more(group)),
          group.hits.map((entry) => this.#option(entry, place++)),
        ),
      ),
    );
    const same = ({ title, href }) => title === chosen?.title && href === chosen?.href;
    this.#select(Math.max(0, this.entries.findIndex(same)));
    const none = answered && !this.entries.length ? `No results for “${text}”.` : '';
    this.status.textContent = this.failure || none;
    this.failure = '';
  }

  #option(entry, place) {
    return h(
      'div',
      {
        role: 'option',
        id: `palette-${place}`,
        'aria-selected': 'false',
        onclick: () => this.#take(place),
        onmousemove: () => this.#select(place),
      },
      h('span', {}, entry.title),
      h('span', { class: 'muted small' }, entry.detail ?? ''),
    );
  }

  #select(place) {
    this.selected = place;
    for (const [at, option] of $$('[role="option"]', this.list).entries()) {
      option.setAttribute('aria-selected', String(at === place));
      if (at === place) option.scrollIntoView({ block: 'nearest' });
    }
    const id = this.entries.length ? `palette-${place}` : '';
    this.input.setAttribute('aria-activedescendant', id);
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const count = this.entries.length;
    if (step && count) this.#select((this.selected + step + count) % count);
    else if (event.key === 'Enter') this.#take(this.selected, event.ctrlKey || event.metaKey);
    else return;
    event.preventDefault();
  }

  /** Opens or does the entry; apart: in a new tab. */
  #take(place, apart = false) {
    const entry = this.entries[place];
    if (!entry) return;
    this.dialog.close();
    if (entry.act) entry.act();
    else if (apart) open(entry.href, '_blank', 'noopener');
    else location.assign(entry.href);
  }
}

/**
 * The groups of entries with every word of the text in their titles, those that begin with the text first; all of them
 * for ''.
 */
export function matching(groups, text) {
  const begin = text.toLowerCase();
  const words = begin.split(/\s+/).filter(Boolean);
  const fits = ({ title }) => words.every((word) => title.toLowerCase().includes(word));
  const later = ({ title }) => Number(!title.toLowerCase().startsWith(begin));
  const chosen = (hits) => hits.filter(fits).sort((one, other) => later(one) - later(other));
  return groups.map(({ title, hits }) => ({ title, hits: chosen(hits) })).filter(({ hits }) => hits.length);
}

/** ' · first 6 of 40' of a group that has more. */
export const more = ({ count, hits }) =>
  count > hits.length ? ` · first ${number(hits.length, 0)} of ${number(count, 0)}` : '';

/** @returns {Group[]} the pages in the bar on top */
function pages() {
  const links = $$('.top > nav[aria-label="Pages"] a, .top .right a');
  const named = links.map((link) => ({ title: link.firstChild.textContent.trim(), href: link.href }));
  const others = [
    { title: 'Wall display', href: '/wall/' },
    { title: 'Style guide', href: '/styleguide/' },
  ];
  return [{ title: 'Pages', hits: [...named, ...others] }];
}

/** @returns {Group[]} the buttons and links beside the heading of the page, and the theme */
function actions() {
  const shown = $$('main .heading .actions :is(button, a.button)').filter(
    (element) => !element.disabled && element.checkVisibility(),
  );
  const danger = (element) => Number(element.classList.contains('danger'));
  shown.sort((one, other) => danger(one) - danger(other)); // none of these is the first entry, which Enter takes
  const hits = shown.map((element) => ({ title: element.textContent.trim(), act: () => element.click() }));
  const theme = $('#theme');
  const other = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
  return [{ title: 'Actions', hits: [...hits, { title: `Switch to the ${other} theme`, act: () => theme.click() }] }];
}
