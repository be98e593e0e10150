// Errors of a page, written to its console and to the server's log: each once, and a limited number per page.

import { ApiError, csrfToken } from './api.js';

const MAX_REPORTS = 10;
/** @type {Record<string, number>} */
const MAX_LENGTHS = { message: 500, page: 500, stack: 4000 };
const reported = new Set();
const LAYOUT_NOTICE = /^ResizeObserver loop /; // the browser put a resize off to its next frame: nothing failed

/** What the page itself refuses, in a sentence for whoever asked for it: no defect. */
export class Refusal extends Error {}

/**
 * An error that the page has dealt with, and that the server must hear of all the same; what it refused it knows.
 *
 * @param {unknown} error
 */
export function logError(error) {
  if (error instanceof ApiError || error instanceof Refusal) return;
  console.error(error);
  send(error);
}

/** From now on the server hears of every error that nobody dealt with; the browser's console has it already. */
export function tellUncaught() {
  addEventListener('error', ({ error, message }) => send(error ?? { message }));
  addEventListener('unhandledrejection', ({ reason }) => send(reason));
}

/** @param {any} error */
function send(error) {
  const message = String(error?.message ?? error) || 'an error without a message';
  if (error instanceof ApiError || error instanceof Refusal || LAYOUT_NOTICE.test(message)) return;
  if (reported.has(message) || reported.size >= MAX_REPORTS) return;
  reported.add(message);
  /** @type {Record<string, string>} */
  const row = { message, page: location.pathname + location.search, stack: error?.stack ?? '' };
  const cut = Object.entries(row).map(([name, text]) => [name, text.slice(0, MAX_LENGTHS[name])]);
  fetch('/api/client-errors/', {
    method: 'POST',
    credentials: 'same-origin',
    keepalive: true,
    headers: { 'Content-Type': 'application/json', 'X-CSRFToken': csrfToken() },
    body: JSON.stringify(Object.fromEntries(cut)),
  }).catch(() => {});
}
