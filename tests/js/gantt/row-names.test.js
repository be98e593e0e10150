// The headings of the rows of the schedule: whole where there is room, else without their unit.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open } from '../dom.js';
import { inLines, paintRowNames, sharedDomain, shortHeading } from '../../../static/js/gantt/row-names.js';

const ctx = { measureText: (text) => ({ width: text.length * 6 }) };
const inRoom = (text, characters) => shortHeading(ctx, text, characters * 6);

/** What is painted for rows: [{kind, label, how}] of 10 px each, from y = 0 on. */
function paintedNames(rows, { detail = 'bars', hovered = null } = {}) {
  open();
  const [rects, texts] = [[], []];
  const nothing = () => {};
  const own = {
    ...ctx,
    ...Object.fromEntries(['save', 'restore', 'beginPath', 'rect', 'clip'].map((name) => [name, nothing])),
    fillRect: (...rect) => rects.push(rect),
    fillText: (text, x, y) => texts.push([text, y]),
  };
  const views = rows.map((row, index) => ({ row: { index, ...row }, how: row.how, y: index * 10 }));
  const area = { left: 100, right: 300, top: 0, bottom: rows.length * 10 };
  paintRowNames(own, { area, views, rowPx: 10, detail, rows: { domain: '' }, c: { shade: 'shade' } }, hovered);
  return { rects, texts };
}

test('a row that is shaded among rows of bars has a mark beside its name', needsPage, () => {
  const rows = [
    { kind: 'server', label: 'a', how: 'bars' },
    { kind: 'server', label: 'b', how: 'shade' },
  ];
  assert.deepEqual(paintedNames(rows).rects, [[94, 10, 4, 9]]);
  assert.deepEqual(paintedNames(rows, { detail: 'shade' }).rects, []);
});

test('the name under the pointer moves no other name', needsPage, () => {
  const rows = ['a', 'b', 'c', 'd', 'e'].map((label) => ({ kind: 'server', label, how: 'bars' }));
  const usual = paintedNames(rows).texts.map(([text]) => text);
  assert.deepEqual(usual, ['a', 'c', 'e'], 'rows of 10 px have no room for every name');
  const { rects, texts } = paintedNames(rows, { hovered: 1 });
  assert.deepEqual(
    texts.map(([text]) => text),
    ['a', 'c', 'e', 'b'],
  );
  assert.deepEqual(rects, [[0, 8.5, 92, 13]], 'it covers what it would cross');
  assert.equal(paintedNames(rows, { hovered: 2 }).texts.length, 3);
});

test('a heading that has no room loses the unit of its count, not the count', () => {
  assert.equal(inRoom('▾ edge · 40 servers', 19), '▾ edge · 40 servers');
  assert.equal(inRoom('▾ edge · 40 servers', 18), '▾ edge: 40');
  assert.equal(inRoom('▸ cloud · 1,200 servers', 14), '▸ cloud: 1,200');
});

test('a count is whole or left out', () => {
  assert.equal(inRoom('▾ edge · 304 servers', 9), '▾ edge');
  assert.equal(inRoom('▸ cloud · 1,200 servers', 12), '▸ cloud');
});

test('a heading that is too long even so is truncated at its end', () => {
  assert.equal(inRoom('▾ production-queue · 12 jobs', 10), '▾ product…');
  assert.equal(inRoom('unlimited cloud', 10), 'unlimited…');
});

test('a name that is too long for a line takes two where its row is high enough', () => {
  assert.deepEqual(inLines(ctx, 'unlimited cloud', 60, 40), ['unlimited', 'cloud']);
  assert.deepEqual(inLines(ctx, 'unlimited cloud', 60, 20), ['unlimited cloud']);
  assert.deepEqual(inLines(ctx, 'unlimited cloud', 90, 40), ['unlimited cloud']);
  assert.deepEqual(inLines(ctx, 'production-queue', 60, 40), ['production-queue']);
});

test('the domain that all servers have in common is the longest one, and no whole name', () => {
  assert.equal(sharedDomain(['gpu1.rack0.example.org', 'gpu2.rack0.example.org']), '.rack0.example.org');
  assert.equal(sharedDomain(['gpu1.rack0.example.org', 'gpu1.rack1.example.org']), '.example.org');
  assert.equal(sharedDomain(['gpu1.example.org', 'gpu2']), '');
  assert.equal(sharedDomain(['gpu1.example.org']), '');
  assert.equal(sharedDomain(['.example.org', 'gpu1.example.org']), '.org');
});
