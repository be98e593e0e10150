// The REST API: JSON in, JSON out; an answer that is not 2xx becomes an Error whose message is the server's sentence.
// A GET that is refused because the account sent too many requests is repeated when the server allows it.

import { unpack } from './columns/column-codec.js';

export const SESSION_ENDED = 'The session has ended; log in again.';

/** Sentence of an answer without one. @param {number} status */
export const statusSentence = (status) => `The server answered with status ${status}.`;

export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status
   * @param {Record<string, string>} [fields]
   * @param {any} [body]
   */
  constructor(message, status, fields, body) {
    super(message);
    this.status = status;
    this.fields = fields; // {field: sentence} of a refused form
    this.body = body; // the complete answer
  }
}

/**
 * True if a run has become so large that only its page by level of detail shows it.
 *
 * @param {any} error
 */
export const isOfLargeRun = (error) => error.body?.code === 'large_run';

/** @type {(path: string) => Promise<any>} */
export const get = (path) => request('GET', path);
/** @type {(path: string, body?: unknown) => Promise<any>} */
export const post = (path, body) => request('POST', path, body ?? {});
/** @type {(path: string, body: unknown) => Promise<any>} */
export const patch = (path, body) => request('PATCH', path, body);
/** @type {(path: string) => Promise<any>} */
export const remove = (path) => request('DELETE', path);

/**
 * A binary columns payload.
 *
 * @param {string} path
 */
export async function getColumns(path) {
  const response = await allowed('GET', () => reached(fetch(path, { credentials: 'same-origin' })));
  if (!response.ok) throw await failure(response);
  return unpack(await reached(response.arrayBuffer()));
}

export function csrfToken() {
  return document.querySelector('meta[name="csrf-token"]')?.getAttribute('content') ?? '';
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
async function request(method, path, body) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const send = () => {
    /** @type {Record<string, string>} */
    const headers = { Accept: 'application/json', 'X-CSRFToken': csrfToken() };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    return reached(fetch(path, { method, headers, credentials: 'same-origin', body: text }));
  };
  let response = await allowed(method, send);
  if (response.status === 403 && method !== 'GET') {
    const refusal = await failure(response);
    if (refusal.body?.code !== 'csrf') throw refusal;
    await renewToken();
    response = await send();
  }
  if (!response.ok) throw await failure(response);
  return response.status === 204 ? null : reached(response.json());
}

/**
 * Replaces the token of an earlier session: somebody logged in again in another tab, and what was typed here is not
 * lost. Refused if that was another account.
 */
async function renewToken() {
  const text = await reached(fetch('/settings/account/', { credentials: 'same-origin' }).then((page) => page.text()));
  const account = /data-account="(\d+)"/.exec(text)?.[1];
  const token = /<meta name="csrf-token" content="(\w+)">/.exec(text)?.[1];
  if (!token || account !== document.body.dataset.account)
    throw new ApiError('Another account is logged in now; load the page again.', 403);
  document.querySelector('meta[name="csrf-token"]')?.setAttribute('content', token);
}

const TOO_MANY = 429;
const MAX_REPEATS = 4;
const MAX_WAIT_S = 10; // before one repetition

/**
 * Answer to a request, repeated after `Retry-After` if it is a GET and the account sent too many.
 *
 * @param {string} method
 * @param {() => Promise<Response>} ask
 */
async function allowed(method, ask) {
  let response = await ask();
  for (let n = 0; n < MAX_REPEATS && method === 'GET' && response.status === TOO_MANY; n++) {
    const wait = Number(response.headers.get('Retry-After') ?? 1);
    if (!(wait <= MAX_WAIT_S)) break;
    await new Promise((done) => setTimeout(done, wait * 1000));
    response = await ask();
  }
  return response;
}

/**
 * Result of fetch; a lost connection, a TypeError of fetch, becomes an ApiError with the status 0.
 *
 * @template T
 * @param {Promise<T>} answer
 * @returns {Promise<T>}
 */
function reached(answer) {
  return answer.catch((error) => {
    throw error instanceof TypeError ? new ApiError('The server cannot be reached.', 0) : error;
  });
}

/** @param {Response} response */
async function failure(response) {
  return sentence(response.status, parse(await reached(response.text())));
}

/**
 * @param {number} status
 * @param {any} body
 */
function sentence(status, body) {
  if (status === 401) return new ApiError(SESSION_ENDED, status);
  if (typeof body?.detail === 'string') return new ApiError(body.detail, status, fieldsOf(body), body);
  return new ApiError(statusSentence(status), status);
}

/**
 * Sentences about single fields, which stand beside `detail`; undefined without any.
 *
 * @param {Record<string, any>} body
 * @returns {Record<string, string> | undefined}
 */
function fieldsOf(body) {
  const texts = (/** @type {any} */ value) =>
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
  const named = Object.entries(body).filter(([, value]) => texts(value));
  return named.length ? Object.fromEntries(named.map(([key, value]) => [key, value.join(' ')])) : undefined;
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
