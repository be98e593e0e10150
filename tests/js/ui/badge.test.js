// What the badge of the connection says.

import assert from 'node:assert/strict';
import test from 'node:test';

import { badgeText } from '../../../static/js/ui/connection-badge.js';

const AT = Date.UTC(2026, 0, 2, 14, 3, 20);

test('fresh data have no age, data that a ping is missing of have one', () => {
  assert.equal(badgeText({ state: 'live', heardAt: AT }, AT + 5000), 'connected');
  assert.equal(badgeText({ state: 'live', heardAt: AT }, AT + 7400), 'connected, data 7 s old');
});

test('offline, the time of the last data stands there, and why when there is something to say', () => {
  assert.equal(
    badgeText({ state: 'offline', heardAt: AT }, AT + 93_000),
    'offline: last data 14:03:20 UTC, 1m 33s ago; reconnecting',
  );
  assert.equal(badgeText({ state: 'offline', heardAt: 0 }, AT), 'offline; reconnecting');
  assert.equal(
    badgeText({ state: 'refused', heardAt: AT, error: 'the session has ended' }, AT),
    'not connected: the session has ended',
  );
});

test('the data of a run that has ended do not age', () => {
  assert.equal(badgeText({ state: 'live', heardAt: AT, ended: true }, AT + 1e9), 'complete');
  const over = { state: 'live', heardAt: AT, ended: true, endMs: 90_061_000 };
  assert.equal(badgeText(over, AT + 1e9), 'complete, ended at 1d 01:01:01');
  const cancelled = { ...over, outcome: 'cancelled' };
  assert.equal(badgeText(cancelled, AT + 1e9), 'cancelled, ended at 1d 01:01:01');
  assert.equal(badgeText({ state: 'offline', heardAt: AT, ended: true }, AT + 1e9), 'offline; reconnecting');
});
