// The REST API: JSON in, JSON out; an answer that is not 2xx becomes an Error whose message is the server's sentence.

import { unpack } from './column-codec.js';

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
  const response = await reached(fetch(path, { credentials: 'same-origin' }));
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
  /** @type {Record<string, string>} */
  const headers = { Accept: 'application/json', 'X-CSRFToken': csrfToken() };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const text = body === undefined ? undefined : JSON.stringify(body);
  const response = await reached(fetch(path, { method, headers, credentials: 'same-origin', body: text }));
  if (!response.ok) throw await failure(response);
  return response.status === 204 ? null : reached(response.json());
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
  if (status === 401) return new ApiError('The session has ended; log in again.', status);
  if (typeof body?.detail === 'string') return new ApiError(body.detail, status, undefined, body);
  if (body && typeof body === 'object') {
    const errors = Object.entries(body).map(([k, v]) => [k, Array.isArray(v) ? v.join(' ') : String(v)]);
    const message = errors.map(([k, v]) => (k === 'non_field_errors' ? v : `${k}: ${v}`)).join(' ');
    return new ApiError(message, status, Object.fromEntries(errors), body);
  }
  return new ApiError(`The server answered ${status}.`, status);
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
