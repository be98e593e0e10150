// A term with its definition: a button with the words of a label. A click, a tap, Enter or Space opens the definition
// in a popover, and a mouse that rests on the term.

import { fill, h } from '../dom.js';

const REST_MS = 350; // of a mouse on a term
const LEAVE_MS = 200; // for the way from the term into its definition
const GAP_PX = 4;
const WORDS = { higher: 'Higher is better.', lower: 'Lower is better.' };

/** @type {HTMLElement | null} */
let box = null; // one popover for all terms
/** @type {HTMLElement | null} */
let opener = null; // the term whose definition is open
let byMouse = false; // whether it was opened by a mouse that rests
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * The label `text` with its definition; direction: which values are better, if any.
 *
 * @param {string} text
 * @param {{definition: string, direction?: string | null}} meaning
 */
export function term(text, { definition, direction = null }) {
  const button = h('button', { type: 'button', class: 'term', 'aria-expanded': 'false' }, text);
  const open = (/** @type {boolean} */ mouse) => show(button, text, definition, direction, mouse);
  let was = false; // whether it was open when the pointer went down, which closes a popover
  button.addEventListener('pointerdown', () => (was = opener === button && !byMouse));
  button.addEventListener('click', (/** @type {MouseEvent} */ event) => {
    event.stopPropagation(); // the row or the header below has its own action
    clearTimeout(timer);
    const close = event.detail ? was : opener === button;
    if (close) hide();
    else open(false);
  });
  button.addEventListener('pointerenter', ({ pointerType }) => {
    if (pointerType !== 'mouse') return;
    clearTimeout(timer);
    timer = setTimeout(() => free() && open(true), REST_MS);
  });
  button.addEventListener('pointerleave', leave);
  button.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || opener !== button) return;
    event.stopPropagation(); // it closes nothing else
    hide();
  });
  return button;
}

/** True if no popover is open that a mouse must not close. */
const free = () => !opener && !document.querySelector('[popover="auto"]:popover-open');

function leave() {
  clearTimeout(timer);
  if (opener && byMouse) timer = setTimeout(hide, LEAVE_MS);
}

function hide() {
  clearTimeout(timer);
  if (!opener) return;
  box?.hidePopover();
  closed();
}

function closed() {
  opener?.setAttribute('aria-expanded', 'false');
  opener = null;
}

/**
 * @param {HTMLElement} button
 * @param {string} title
 * @param {string} definition
 * @param {string | null} direction
 * @param {boolean} mouse
 */
function show(button, title, definition, direction, mouse) {
  hide();
  if (!button.isConnected) return; // it was replaced meanwhile
  const popover = (box ??= made());
  const better = /** @type {Record<string, string>} */ (WORDS)[direction ?? ''];
  fill(popover, h('strong', {}, title), h('p', {}, definition), better ? h('p', { class: 'muted' }, better) : null);
  [opener, byMouse] = [button, mouse];
  button.setAttribute('aria-expanded', 'true');
  (button.closest('dialog') ?? document.body).append(popover); // what is outside a modal dialog is inert
  popover.showPopover();
  place(popover, button);
}

function made() {
  const popover = h('div', { class: 'definition', popover: 'auto', role: 'status' });
  popover.addEventListener('pointerenter', () => clearTimeout(timer));
  popover.addEventListener('pointerleave', leave);
  popover.addEventListener('beforetoggle', (/** @type {any} */ { newState }) => {
    if (newState === 'closed') closed();
  });
  return popover;
}

/**
 * Below the term, or above it where there is no room below; within the window.
 *
 * @param {HTMLElement} popover
 * @param {HTMLElement} button
 */
function place(popover, button) {
  const { left, top, bottom } = button.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const above = bottom + GAP_PX + popover.offsetHeight > clientHeight;
  popover.style.left = `${Math.max(GAP_PX, Math.min(left, clientWidth - popover.offsetWidth - GAP_PX))}px`;
  popover.style.top = `${Math.max(GAP_PX, above ? top - popover.offsetHeight - GAP_PX : bottom + GAP_PX)}px`;
}
