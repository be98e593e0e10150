// Browser interface of live connections: clock, network, events. Tests pass their own.

/**
 * @typedef {object} Browser
 * @property {() => number} now ms of a clock that never jumps
 * @property {() => number} wallNow ms since 1970
 * @property {() => number} random in [0, 1)
 * @property {(ms: number, action: () => void) => number} later
 * @property {(timer: number) => void} cancel a timer of `later` or `every`
 * @property {(ms: number, action: () => void) => number} every
 * @property {(path: string) => WebSocket} connect
 * @property {(name: string, action: () => void) => () => void} on 'online', 'offline' or 'visibilitychange';
 *   returns a function that ends it
 * @property {() => boolean} hidden whether the page is hidden
 */

/** @type {Browser} */
export const browser = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  random: () => Math.random(),
  later: (ms, action) => window.setTimeout(action, ms),
  cancel: (timer) => window.clearTimeout(timer),
  every: (ms, action) => window.setInterval(action, ms),
  connect: (path) => new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`),
  on: (name, action) => {
    const target = name === 'visibilitychange' ? document : window;
    target.addEventListener(name, action);
    return () => target.removeEventListener(name, action);
  },
  hidden: () => document.hidden,
};
