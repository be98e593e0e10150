// Upload of files in parts, which resumes where the server stopped, and retries when the connection breaks.

import { SESSION_ENDED, csrfToken, get, statusSentence } from '../core/api.js';

export const PART_BYTES = 4 * 2 ** 20;
// between attempts of the same part; then a server that answers with failures stops it with a message
const WAITS_MS = [500, 1000, 2000, 4000, 8000, 15_000, 30_000];
const MAX_JUMPS = 20; // answers that name another offset, one after the other: somebody else sends the same files
const RATE_MS = 4000; // the rate shown is that of the last seconds

/**
 * One upload. `files` are in the order of `trace.files`. state: sending, waiting (for its next try), stopped (`problem`
 * says why; run() goes on), received (`trace` is what the server made of it), duplicate (`earlier` is the trace that
 * the same files gave), cancelled. Event `change`: one of these has changed.
 */
export class Transfer extends EventTarget {
  constructor(
    trace,
    files,
    { put = putPart, read = (id) => get(`/api/traces/${id}/`), sleep = pause, now = () => performance.now() } = {},
  ) {
    super();
    this.trace = trace;
    this.files = files;
    this.put = put;
    this.read = read;
    this.sleep = sleep;
    this.now = now;
    this.received = trace.files.map((file) => file.received);
    this.size = files.reduce((sum, file) => sum + file.size, 0);
    this.flying = 0; // bytes of the part being sent
    this.marks = [];
    this.state = 'sending';
    this.problem = '';
    this.readable = true; // false once a file was changed or removed
    this.earlier = null;
  }

  get id() {
    return this.trace.id;
  }

  get sent() {
    return this.received.reduce((sum, n) => sum + n, 0) + this.flying;
  }

  get active() {
    return this.state === 'sending' || this.state === 'waiting';
  }

  /** True if it was stopped and may go on. */
  get resumable() {
    return this.state === 'stopped' && this.readable;
  }

  /** Recent bytes per second, or null without enough data. */
  get rate() {
    const [first, last] = [this.marks[0], this.marks.at(-1)];
    return last && last[0] - first[0] > 300 ? Math.max(0, (1000 * (last[1] - first[1])) / (last[0] - first[0])) : null;
  }

  /** Sends the missing parts. Ends in one of the states above, never with an exception. */
  async run() {
    this.abort = new AbortController();
    this.marks = [];
    this.#change('sending', '');
    for (let n = 0; n < this.files.length && this.state === 'sending'; n++) {
      while (this.state === 'sending' && this.received[n] < this.files[n].size) await this.#part(n);
    }
    if (this.state === 'sending') await this.#part(this.files.length - 1); // empty: completes the upload
    if (this.state === 'sending')
      this.#change('stopped', 'All data have been sent, but the server has not confirmed the upload.');
  }

  cancel() {
    this.#change('cancelled', '');
    this.abort?.abort();
  }

  async #part(n, tries = 0) {
    const offset = this.received[n];
    const part = this.files[n].slice(offset, offset + PART_BYTES);
    const path = `/api/traces/${this.id}/files/${n}/?offset=${offset}`;
    const { status, body } = await this.put(path, part, (bytes) => this.#fly(bytes), this.abort.signal);
    this.flying = 0;
    if (this.state === 'cancelled') return;
    if (status >= 200 && status < 300) this.#took(n, body);
    else if (status === 409 && body?.duplicate_of)
      this.#end('duplicate', { earlier: { id: body.duplicate_of, detail: body.detail } });
    else if (status === 409 && Number.isFinite(body?.received)) this.#jump(n, body.received);
    else if (status === 409) await this.#elsewhere(body?.detail);
    else if (status === 0 && !(await readable(part))) this.#unreadable(this.files[n].name);
    else if (status === 0 || status === 429 || status >= 500) await this.#again(n, tries, status, body);
    else this.#change('stopped', status === 401 ? SESSION_ENDED : (body?.detail ?? statusSentence(status)));
  }

  #took(n, body) {
    this.jumps = 0;
    this.received[n] = body.received;
    if (body.trace) this.#end('received', { trace: body.trace });
    else this.#fly(0);
  }

  #jump(n, received) {
    this.jumps = (this.jumps ?? 0) + 1;
    this.received[n] = received;
    if (this.jumps > MAX_JUMPS) this.#change('stopped', 'Another session seems to be uploading the same files.');
  }

  /** The server accepts no more parts: the answer to the last one was lost, or somebody cancelled. */
  async #elsewhere(detail) {
    const trace = await this.read(this.id).catch(() => null);
    if (trace && ['queued', 'parsing', 'scanned', 'ready'].includes(trace.status)) this.#end('received', { trace });
    else this.#change('stopped', detail ?? 'The server does not accept more data for this upload.');
  }

  #unreadable(name) {
    this.readable = false;
    this.#change('stopped', `${name} cannot be read any more; it was changed or removed. Cancel, and choose it again.`);
  }

  async #again(n, tries, status, body) {
    const why = status === 0 ? 'Connection lost' : (body?.detail ?? statusSentence(status));
    if (status !== 0 && tries >= WAITS_MS.length)
      return this.#change('stopped', `${why.replace(/\.$/, '')}. Stopped after ${tries + 1} attempts.`);
    this.#change('waiting', `${why.replace(/\.$/, '')}; retrying`);
    await this.sleep(WAITS_MS[Math.min(tries, WAITS_MS.length - 1)], this.abort.signal);
    if (this.state === 'cancelled') return;
    this.#change('sending', '');
    await this.#part(n, tries + 1);
  }

  #fly(bytes) {
    this.flying = bytes;
    const now = this.now();
    this.marks.push([now, this.sent]);
    while (now - this.marks[0][0] > RATE_MS) this.marks.shift();
    this.dispatchEvent(new Event('change'));
  }

  #end(state, found) {
    Object.assign(this, found);
    this.#change(state, '');
  }

  #change(state, problem) {
    this.state = state;
    this.problem = problem;
    this.dispatchEvent(new Event('change'));
  }
}

/** The unfinished upload that has exactly these files, by name and size: {trace, files in its order}, or null. */
export function unfinished(files, traces) {
  for (const trace of traces) {
    if (trace.status !== 'uploading' || trace.files.length !== files.length) continue;
    const left = [...files];
    const found = trace.files.map(
      ({ name, size }) => left.splice(left.findIndex((f) => f.name === name && f.size === size) >>> 0, 1)[0],
    );
    if (found.every(Boolean)) return { trace, files: found };
  }
  return null;
}

/** False if a file was changed or removed since it was chosen: the browser reads no part of it any more. */
const readable = (part) =>
  part
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

/** PUTs bytes; {status, body}, with status 0 when there was no answer. (fetch reports no upload progress.) */
function putPart(path, part, onBytes, signal) {
  return new Promise((resolve) => {
    const xhr = new XMLHttpRequest();
    const none = () => resolve({ status: 0, body: null });
    xhr.open('PUT', path);
    xhr.setRequestHeader('X-CSRFToken', csrfToken());
    xhr.setRequestHeader('Content-Type', 'application/octet-stream');
    xhr.upload.addEventListener('progress', (e) => onBytes(e.loaded));
    for (const name of ['error', 'abort', 'timeout']) xhr.addEventListener(name, none);
    xhr.addEventListener('load', () => resolve({ status: xhr.status, body: parsed(xhr.responseText) }));
    signal.addEventListener('abort', () => xhr.abort());
    xhr.send(part);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A wait, shorter if the connection returns or the transfer is aborted. */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      globalThis.removeEventListener?.('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    globalThis.addEventListener?.('online', done);
  });
}
