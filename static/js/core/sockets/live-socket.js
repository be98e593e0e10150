// WebSocket that reconnects; a connection without answers counts as lost.

import { browser } from './browser.js';
import { unpack } from '../columns/column-codec.js';
import { frameOf } from '../columns/frames.js';

const OPEN = 1; // WebSocket.OPEN
const BACKOFF_MS = [250, 500, 1000, 2000, 5000, 10000];
const PING_MS = 4000;
const MAX_MISSED_PINGS = 2; // unanswered pings after which the connection is closed
const MAX_OPENING_MS = 10000; // until a connection is open

export class LiveSocket extends EventTarget {
  /**
   * Events: 'open', 'message' with .detail the parsed message, 'change' after a change of .state, or of .heardAt while
   * the connection is lost, 'closed' with .detail the code when the server ended it for good.
   *
   * @param {string} path of the address
   * @param {import('./browser.js').Browser} env
   */
  constructor(path, env = browser) {
    super();
    this.path = path;
    this.env = env;
    /** @type {'connecting' | 'live' | 'offline' | 'closed'} */
    this.state = 'connecting';
    this.error = ''; // message, if any
    this.heardAt = 0; // wall time of the last message: the age of the data
    this.attempt = 0;
    this.missed = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.openingSince = 0;
    this.wanted = false;
    this.retry = 0; // the timer of the next attempt, the only one
    /** @type {(() => void)[]} */
    this.releases = []; // functions that release listeners and the timer of the pings
  }

  /** Connects, and reconnects until `close`. */
  open() {
    if (!this.wanted) this.#hold();
    this.wanted = true;
    this.#connect();
  }

  /** Ends the connection for good, and releases its listeners and timers. */
  close() {
    this.wanted = false;
    for (const release of this.releases.splice(0)) release();
    this.#drop();
    this.#become('closed');
  }

  /**
   * Sends a message; without a connection it is lost.
   *
   * @param {object} message
   */
  say(message) {
    if (this.socket?.readyState === OPEN) this.socket.send(JSON.stringify(message));
  }

  /** The server has answered, here or by HTTP. */
  heard() {
    this.heardAt = this.env.wallNow();
    this.missed = 0;
  }

  #hold() {
    const { env } = this;
    const pings = env.every(PING_MS, () => this.#tick());
    this.releases = [
      env.on('offline', () => this.socket && this.#lost()),
      env.on('online', () => this.#connect()),
      () => env.cancel(pings),
    ];
  }

  #connect() {
    if (this.socket || !this.wanted) return;
    this.env.cancel(this.retry);
    const socket = (this.socket = this.env.connect(this.path));
    socket.binaryType = 'arraybuffer';
    this.openingSince = this.env.now();
    this.missed = 0;
    const mine = () => this.socket === socket; // events of a closed connection are ignored
    socket.addEventListener('open', () => mine() && this.#opened());
    socket.addEventListener('message', ({ data }) => mine() && this.#received(messageOf(data)));
    socket.addEventListener('close', ({ code }) => mine() && this.#closed(code));
  }

  #opened() {
    this.say({ type: 'ping' }); // live after its first message: a proxy may open a dead connection
    this.dispatchEvent(new Event('open'));
  }

  /** @param {{type: string}} message */
  #received(message) {
    this.attempt = 0;
    this.heard();
    this.#become('live');
    this.dispatchEvent(new CustomEvent('message', { detail: message }));
  }

  /**
   * 44xx: the server rejects this page for good; the code is the reason.
   *
   * @param {number} code
   */
  #closed(code) {
    if (code < 4400 || code > 4499) return this.#lost();
    this.close();
    this.dispatchEvent(new CustomEvent('closed', { detail: code }));
  }

  #lost() {
    this.#drop();
    this.#become('offline');
    const wait = BACKOFF_MS[Math.min(this.attempt++, BACKOFF_MS.length - 1)] * (0.75 + this.env.random() / 2);
    this.retry = this.env.later(wait, () => this.#connect());
  }

  #drop() {
    this.env.cancel(this.retry);
    const { socket } = this;
    this.socket = null;
    socket?.close();
  }

  #tick() {
    if (!this.socket) return;
    if (this.socket.readyState === OPEN) {
      if (this.missed >= MAX_MISSED_PINGS) return this.#lost();
      this.missed++; // until a message arrives
      this.say({ type: 'ping' });
    } else if (this.env.now() - this.openingSince > MAX_OPENING_MS) this.#lost();
  }

  /** @param {LiveSocket['state']} state */
  #become(state) {
    if (state === this.state) return;
    this.state = state;
    this.dispatchEvent(new Event('change'));
  }
}

/**
 * A message as the server sends it: JSON, or a frame of the log.
 *
 * @param {string | ArrayBuffer} data
 */
function messageOf(data) {
  return typeof data === 'string' ? JSON.parse(data) : frameOf(unpack(data));
}

/**
 * Content of a message event.
 *
 * @param {Event} event
 */
export function detailOf(event) {
  return /** @type {CustomEvent} */ (event).detail;
}
