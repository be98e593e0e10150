// Reports of a page's errors to its console and to the server's log: each once, and a limited number per page.

import { ApiError, csrfToken } from './api.js';

const MAX_REPORTS = 10;
/** @type {Record<string, number>} */
const MAX_LENGTHS = { message: 500, page: 500, stack: 4000 };
const reported = new Set();
const LAYOUT_NOTICE = /^ResizeObserver loop /; // the browser deferred a resize to its next frame, which is no error

/** A refusal by the page itself, with a sentence for the user; not a defect. */
export class Refusal extends Error {}

/**
 * Reports an error that the page has handled; refusals of the server are not reported back to it.
 *
 * @param {unknown} error
 */
export function logError(error) {
  if (error instanceof ApiError || error instanceof Refusal) return;
  console.error(error);
  send(error);
}

/** Reports every unhandled error from now on; the browser's console has it already. */
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
