// The REST API: JSON in, JSON out; an answer that is not 2xx becomes an Error whose message is the server's sentence.

import { unpack } from './columns.js';

export class ApiError extends Error {
  constructor(message, status, fields, body) {
    super(message);
    this.status = status;
    this.fields = fields; // {field: sentence} of a refused form
    this.body = body; // all of the answer
  }
}

export const get = (path) => request('GET', path);
export const post = (path, body) => request('POST', path, body ?? {});
export const patch = (path, body) => request('PATCH', path, body);
export const remove = (path) => request('DELETE', path);

/** A binary columns payload. */
export async function getColumns(path) {
  const response = await fetch(path, { credentials: 'same-origin' });
  if (!response.ok) throw await failure(response);
  return unpack(await response.arrayBuffer());
}

export function csrfToken() {
  return document.querySelector('meta[name="csrf-token"]')?.content ?? '';
}

async function request(method, path, body) {
  const headers = { Accept: 'application/json', 'X-CSRFToken': csrfToken() };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const options = { method, headers, credentials: 'same-origin', body: body === undefined ? undefined : JSON.stringify(body) };
  const response = await fetch(path, options).catch(() => {
    throw new ApiError('The server cannot be reached.', 0);
  });
  if (!response.ok) throw await failure(response);
  return response.status === 204 ? null : response.json();
}

async function failure(response) {
  return sentence(response.status, parse(await response.text()));
}

function sentence(status, body) {
  if (status === 401) return new ApiError('The session has ended; log in again.', status);
  if (typeof body?.detail === 'string') return new ApiError(body.detail, status, undefined, body);
  if (body && typeof body === 'object') {
    const fields = Object.fromEntries(Object.entries(body).map(([k, v]) => [k, Array.isArray(v) ? v.join(' ') : String(v)]));
    return new ApiError(Object.entries(fields).map(([k, v]) => (k === 'non_field_errors' ? v : `${k}: ${v}`)).join(' '), status, fields, body);
  }
  return new ApiError(`The server answered ${status}.`, status);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
