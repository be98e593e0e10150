// Transport bar: play, speed, scrubber, jump to the newest time; and how far the run has got.

import { animate, redraw } from '../core/render-loop.js';
import { copyText } from '../ui/labels/copy-text.js';
import { $, debounce, fill, h, setText } from '../ui/dom.js';
import { clock, duration, exactClock } from '../util/format.js';
import { datedClock, wallOf, wallText } from '../util/wall-clock.js';
import { readTimes } from '../ui/address/times.js';
import { url } from '../ui/address/query.js';
import { clockAt, reachedMs } from '../core/playhead.js';
import { ENDED } from '../core/sockets/run-end.js';
import { rulesOf } from '../util/run-modes.js';
import { PLAYBACK_SPEEDS, speedText } from '../util/speeds.js';

export class Transport {
  constructor({ store, view, playhead }) {
    this.store = store;
    this.view = view;
    this.playhead = playhead;
    this.status = null; // newest status message of the run
    this.beganAt = null; // as for runTime()
    this.present = () => null; // current time of a live cluster, in ms of the run
    this.seen = () => null; // time of its last poll
    this.ahead = (_ms) => 0; // up to when something is forecast, in ms of the run
    this.skewMs = 0; // wall clock of the server minus ours
    this.#wire();
  }

  /** Takes a new status message of the run. */
  setStatus(status) {
    this.status = status;
    this.skewMs = (status.server_wall_ms ?? Date.now()) - Date.now();
    this.reach();
    animate(() => this.#live());
  }

  /** Takes the time of the next event of a live run. */
  setNext(ms) {
    if (this.status) this.setStatus({ ...this.status, next_event_ms: ms, server_wall_ms: Date.now() + this.skewMs });
  }

  /** Updates the time that the run has reached, also between two events of a live run, and the extent of the axis. */
  reach() {
    const { store, status } = this;
    let ms = reachedMs(store.simMs, this.#clock(), status?.next_event_ms ?? null);
    ms = Math.max(ms, this.present() ?? this.seen() ?? 0);
    this.playhead.setLive(ms);
    this.view.setExtent(Math.max(store.horizonMs, ms, this.ahead(ms)));
  }

  /** Time of the clock of an active live run (it stands still while the run is paused); null for other runs. */
  #clock() {
    const { status, store } = this;
    if (!rulesOf(status).paced || store.finished || !['running', 'paused'].includes(status.status)) return null;
    const moves = status.status === 'running' && status.wanted === 'running';
    return clockAt(moves ? status.clock : { ...status.clock, speed: 0 }, Date.now() + this.skewMs);
  }

  /** Moves the playhead to `ms`, and the visible range with it. */
  show(ms) {
    this.playhead.scrub(ms);
    this.view.reveal(ms);
  }

  /** The time shown, at most up to where the log is complete: the time of a fork. Whole ms, at least 1. */
  get forkMs() {
    const { store, status, playhead } = this;
    const complete = Math.max(
      store.simMs,
      rulesOf(status).paced ? (status.next_event_ms ?? 0) - 1 : 0,
      this.seen() ?? 0,
    );
    return Math.max(1, Math.floor(Math.min(playhead.ms, complete)));
  }

  /** The time to request from the server; null for the newest. */
  get then() {
    return this.playhead.following ? null : Math.floor(this.playhead.ms);
  }

  /** Reads time and zoom from the address, and writes them there from now on. */
  keepAddress() {
    this.reach();
    readTimes(this.view, this.playhead, this.store.finished);
    const later = debounce(() => this.#address(), 250);
    this.view.addEventListener('range', later);
    for (const name of ['move', 'state']) this.playhead.addEventListener(name, later);
  }

  /** Sets the time and the range shown in the address. */
  #address() {
    const { fitted, from, to } = this.view;
    const range = fitted ? { from: '', to: '' } : { from: Math.round(from), to: Math.round(to) };
    url.set({ t: this.then ?? '', ...range });
  }

  #live() {
    this.reach();
    return rulesOf(this.status).paced && this.status.status === 'running' && !this.store.finished;
  }

  #wire() {
    const { playhead, store, view } = this;
    const [play, speed, scrub, moment, newest, copy] = ['play', 'speed', 'scrub', 'moment', 'live', 'copy-link'].map(
      (id) => $(`#${id}`),
    );
    fill(
      speed,
      PLAYBACK_SPEEDS.map((speed) =>
        h('option', { value: speed, selected: speed === playhead.speed }, speedText(speed)),
      ),
    );
    play.addEventListener('click', () => {
      if (playhead.playing) playhead.pause();
      else {
        playhead.play();
        animate((nowMs) => playhead.tick(nowMs));
      }
    });
    speed.addEventListener('change', () => playhead.setSpeed(Number(speed.value)));
    scrub.addEventListener('input', () => playhead.scrub((Number(scrub.value) / 1000) * playhead.liveMs));
    newest.addEventListener('click', () => playhead.goLive());
    // the address holds run, time, event, zoom, selection and filters
    copy.addEventListener('click', () => {
      this.#address();
      copyText(location.href, copy, "Copy the browser's address");
    });
    const fold = $('#fold');
    fold.addEventListener('click', () => {
      const open = $('main').classList.toggle('controls-open');
      fold.setAttribute('aria-expanded', String(open));
      if (open) scrollTo({ top: 0 });
    });
    const paint = () => {
      setText(play, playhead.playing ? 'Pause' : 'Play');
      const past = !playhead.following;
      const over = store.finished || ENDED.includes(this.status?.status);
      const [end, back] = over ? ['End', 'Go to the end'] : ['Live', 'Back to live'];
      setText(newest, past ? back : end);
      setText(
        $('#behind'),
        past && playhead.liveMs > playhead.ms
          ? `${duration(playhead.liveMs - playhead.ms)} ${over ? 'before the end' : 'behind live'}`
          : '',
      );
      copy.title = `Copy a link to ${past ? 'this' : 'the latest'} time, with this zoom and job`;
      $('main').classList.toggle('past', past);
      newest.setAttribute('aria-pressed', String(playhead.following));
      setText(moment, playhead.playing || playhead.following ? clock(playhead.ms) : exactClock(playhead.ms));
      const wall = wallOf(datedClock(this.beganAt), playhead.ms);
      moment.title = wall === null ? '' : wallText(wall);
      if (document.activeElement !== scrub || playhead.playing || playhead.following)
        scrub.value = playhead.liveMs ? (playhead.ms / playhead.liveMs) * 1000 : 1000;
      scrub.setAttribute('aria-valuetext', clock(playhead.ms));
    };
    for (const name of ['move', 'state']) playhead.addEventListener(name, () => redraw(paint));
    const step = (part) => playhead.scrub(playhead.ms + (part * (view.to - view.from)) / 200);
    onKeys({
      ' ': () => play.click(),
      l: () => playhead.goLive(),
      ',': () => step(-1),
      '.': () => step(1),
      p: () => $('#event-back').click(),
      n: () => $('#event-on').click(),
    });
    paint();
  }
}

/** Keyboard shortcuts of the page: inactive in fields, and the space bar also on buttons. */
function onKeys(actions) {
  addEventListener('keydown', (event) => {
    if (
      /** @type {Element} */ (event.target).closest('input:not([type="range"]), select, textarea') ||
      (event.key === ' ' && /** @type {Element} */ (event.target).closest('button, a, input')) ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    const action = actions[event.key] ?? actions[event.key.toLowerCase()];
    if (!action) return;
    action();
    event.preventDefault();
  });
}
