// A page of the dashboard, opened on recorded answers of the API, and what its tests look for there.

import { openPage, serveRecorded } from './dom.js';

export const $ = (selector) => document.querySelector(selector);
export const $$ = (selector) => [...document.querySelectorAll(selector)];
export const text = (selector) => $(selector)?.textContent ?? '';
/** An answer of the API with an error. */
export const refusal = (status, detail) => new Response(JSON.stringify({ detail }), { status });
/** True if the notice of failed requests has a line that matches. */
export const toldFailure = (pattern) => $$('#failing-parts p').some((line) => pattern.test(line.textContent));
/** Makes an element of the page refuse new content, so that the panel that fills it fails. */
export function broken(selector) {
  $(selector).replaceChildren = () => {
    throw new Error(`${selector} is broken`);
  };
}
/** The sentences of the panels that have failed. */
export const failures = () => $$('.broken').map((note) => note.textContent.match(/This panel failed \((.*?)\)/)[1]);
let visits = 0;

/** Opens a page and runs its script: {window, asked: the requests}. first: answers before the recorded ones. */
export async function visit(page, path, names, first = []) {
  const window = openPage(path, `${page}.html`, names);
  const asked = serveRecorded(first);
  await import(`../../static/js/pages/${page}.js?${visits++}`);
  return { window, asked };
}

/** Sets a field and dispatches its event. */
export function change(window, selector, value, kind = 'change') {
  $(selector).value = value;
  $(selector).dispatchEvent(new window.Event(kind, { bubbles: true }));
}
