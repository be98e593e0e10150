// Small helpers to build and find elements. Text is always set as text, never as HTML.

import { canvasRatio } from './canvas-size.js';
import { foundIn, placeIn } from './focus.js';

/** h('td', {class: 'number', title: 'x', onclick: f}, 'text', child): an element. Null children are left out. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'css') for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else element.setAttribute(name, value === true ? '' : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** Replaces the content of the element; the focus is restored on the same element or its replacement. */
export function fill(element, ...children) {
  const focused = document.activeElement;
  const place = focused !== element && element.contains(focused) ? placeIn(element, focused) : null;
  element.replaceChildren();
  append(element, children);
  if (place && !element.contains(document.activeElement)) foundIn(element, place)?.focus({ preventScroll: true });
  return element;
}

/** Pixels of the screen per unit of the element's own size: what a canvas needs to be sharp, also in a zoomed part. */
export const pixelRatio = (element) => canvasRatio() * (element.currentCSSZoom ?? 1);

/**
 * The first element that a selector finds, below an element or in the page.
 *
 * @param {string} selector
 * @param {ParentNode} root
 * @returns {any}
 */
export const $ = (selector, root = document) => root.querySelector(selector);
/**
 * All elements that a selector finds.
 *
 * @param {string} selector
 * @param {ParentNode} root
 * @returns {any[]}
 */
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

/** The text, in which a narrow screen does not break dates at their hyphens. */
export const wholeDates = (text) =>
  text
    .split(/(\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?(?: UTC)?)?)/)
    .map((part, i) => (i % 2 ? h('span', { class: 'nowrap' }, part) : part));

/** Sets the text only when it differs, so that a live tile does not disturb a selection. */
export function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

/**
 * Shows the panels of a page: with data-loading after its first answer or failure, with data-starting or
 * data-waits when its script asks.
 */
export const showPanels = (waited = 'data-loading') => $('main')?.removeAttribute(waited);

export function debounce(action, ms) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), ms);
  };
}

/**
 * A function that shows a sentence in the element, and hides it for ''.
 *
 * @param {HTMLElement} element
 * @returns {(text: string) => void}
 */
export function errorLine(element) {
  return (text) => {
    element.textContent = text;
    element.hidden = !text;
  };
}

const SVG = 'http://www.w3.org/2000/svg';

/** An SVG element with attributes and children; nested lists are flattened, null is left out. */
export function s(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children.flat(3).filter((child) => child !== null));
  return element;
}
