// Tile: a title above a value in the largest size that shows all of it (style of .tile in components.css).

import { h, setText } from '../dom.js';
import { term } from './term.js';

/**
 * value: texts and elements; hint: definition of the title; better: which values are; more: content below the value;
 * id, class: of its dd.
 */
export function tile(title, value, /** @type {any} */ { hint = null, better = null, more = null, ...properties } = {}) {
  const element = h('dd', properties, value);
  measure(element);
  const name = hint ? term(title, { definition: hint, direction: better }) : title;
  return h('div', { class: 'tile' }, h('dt', {}, name), element, more);
}

/** Another text for the value of a tile. */
export function setTileText(element, text) {
  if (element.textContent === text) return;
  setText(element, text);
  measure(element);
}

const SMALL = 0.65; // size of small text to that of the value, as in .tile dd small

/** A small text of the class aside does not count: it is hidden where it would not fit. */
function measure(element) {
  const lengthOf = (part) => [...element.querySelectorAll(part)].reduce((sum, one) => sum + one.textContent.length, 0);
  const [small, aside] = [lengthOf('small:not(.aside)'), lengthOf('small.aside')];
  const length = element.textContent.length - aside - small + SMALL * small;
  element.style.setProperty('--characters', Math.max(1, Math.ceil(length)));
}
