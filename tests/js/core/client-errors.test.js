// Which errors of a page reach the server.

import assert from 'node:assert/strict';
import test from 'node:test';

import { tellUncaught } from '../../../static/js/core/client-errors.js';

/** @type {Record<string, (event: any) => void>} */
const listeners = {};
/** @type {string[]} */
const sent = [];
Object.assign(globalThis, {
  addEventListener: (/** @type {string} */ type, /** @type {(event: any) => void} */ listener) => {
    listeners[type] = listener;
  },
  location: { pathname: '/runs/1/', search: '' },
  document: { cookie: '', querySelector: () => null },
  fetch: async (/** @type {string} */ _path, /** @type {any} */ { body }) => {
    sent.push(JSON.parse(body).message);
  },
});

test('notices of the browser about its layout are no errors; errors are sent once each', () => {
  tellUncaught();
  for (const message of [
    'ResizeObserver loop completed with undelivered notifications.',
    'ResizeObserver loop limit exceeded',
  ]) {
    listeners.error({ error: null, message });
  }
  assert.deepEqual(sent, []);
  for (let i = 0; i < 2; i += 1) listeners.error({ error: new Error('x is not a function'), message: 'Uncaught' });
  listeners.unhandledrejection({ reason: new Error('ResizeObserver of the chart failed') });
  assert.deepEqual(sent, ['x is not a function', 'ResizeObserver of the chart failed']);
});
