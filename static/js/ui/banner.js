// Lines at the top of a page about the page itself. Each is shown once and stays.

import { $, h } from './dom.js';

/** @param {string} text */
export function banner(text) {
  const main = $('main');
  const known = [...main.querySelectorAll(':scope > .banner')].some((line) => line.textContent === text);
  if (!known) main.prepend(h('div', { class: 'notice bad banner', role: 'alert' }, text));
}
