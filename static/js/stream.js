// A run's state: a snapshot by HTTP, then deltas by WebSocket. The log is the truth and a frame a hint: a gap is asked for
// again by number, and a page that was away (hidden tab, slow, offline) takes a fresh snapshot.

import { getColumns } from './lib/api.js';

const BACKOFF_MS = [250, 500, 1000, 2000, 5000, 10000];
const REPAIR_MS = 2000; // a gap not answered by then is asked for again
const PING_MS = 10000;

export class Stream extends EventTarget {
  /** Events: 'data' after the store changed, 'status' with .detail the status message, 'connection' when .state changed. */
  constructor(runId, store) {
    super();
    this.runId = runId;
    this.store = store;
    this.state = 'connecting'; // connecting | live | offline | paused | refused
    this.error = ''; // why, when there is something to say
    this.heardAt = 0; // performance.now() of the last message: the age of the data
    this.attempt = 0;
    this.repairing = 0; // performance.now() when a gap was asked for, 0 = no gap
    this.gaps = 0;
    this.loading = null;
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#sleep() : this.#wake()));
    addEventListener('online', () => this.state === 'offline' && this.#connect());
    setInterval(() => this.#tick(), PING_MS);
  }

  /** Takes the snapshot, then listens. */
  async start() {
    await this.snapshot();
    this.#connect();
  }

  /** Replaces the store's content with the server's; concurrent calls share one request. */
  snapshot() {
    this.loading ??= this.#load().finally(() => (this.loading = null));
    return this.loading;
  }

  async #load() {
    const payload = await getColumns(`/api/runs/${this.runId}/snapshot/`);
    if (payload.meta.last_seq >= this.store.lastSeq) this.store.load(payload);
    this.repairing = 0;
    this.heardAt = performance.now();
    if (payload.meta.status) this.#emit('status', payload.meta.status);
    this.#emit('data');
  }

  #connect() {
    if (this.socket || document.hidden) return;
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = (this.socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${this.runId}/`));
    socket.addEventListener('open', () => {
      this.attempt = 0;
      this.#become('live');
      this.#askAfter();
    });
    socket.addEventListener('message', (event) => this.#receive(JSON.parse(event.data)));
    socket.addEventListener('close', (event) => this.#closed(socket, event));
  }

  #receive(message) {
    this.heardAt = performance.now();
    if (message.type === 'frame') this.#frame(message);
    else if (message.type === 'status') {
      this.#emit('status', message);
      if (message.last_seq > this.store.lastSeq) this.#repair();
    } else if (message.type === 'snapshot_needed') this.snapshot().then(() => this.#askAfter(), (e) => this.#fail(e));
    else if (message.type === 'error') this.#fail(new Error(message.message));
  }

  #frame(frame) {
    const { store } = this;
    if (frame.first > store.lastSeq + 1) {
      this.gaps++;
      this.#repair();
      return;
    }
    if (store.feed(frame.events)) {
      this.repairing = 0;
      this.#emit('data');
    }
  }

  #repair() {
    if (this.loading || (this.repairing && performance.now() - this.repairing < REPAIR_MS)) return;
    this.repairing = performance.now();
    this.#askAfter();
  }

  #askAfter() {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type: 'after', seq: this.store.lastSeq }));
  }

  #closed(socket, { code }) {
    if (this.socket !== socket) return;
    this.socket = null;
    if (code === 4401 || code === 4403) return this.#refuse('The session has ended; log in again.');
    if (code === 4404) return this.#refuse('This run no longer exists.');
    if (document.hidden) return;
    this.#become('offline');
    const wait = BACKOFF_MS[Math.min(this.attempt++, BACKOFF_MS.length - 1)] * (0.75 + Math.random() / 2);
    setTimeout(() => this.#connect(), wait);
  }

  #sleep() {
    const { socket } = this;
    this.socket = null;
    socket?.close();
    if (this.state !== 'refused') this.#become('paused');
  }

  #wake() {
    if (this.state !== 'paused') return;
    this.#become('connecting');
    this.snapshot().catch((e) => this.#fail(e)).then(() => this.#connect());
  }

  #tick() {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send('{"type":"ping"}');
  }

  #refuse(why) {
    this.error = why;
    this.#become('refused');
  }

  #fail(error) {
    this.error = error.message;
    this.#emit('connection');
  }

  #become(state) {
    this.state = state;
    if (state === 'live') this.error = '';
    this.#emit('connection');
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
