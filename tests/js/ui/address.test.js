// What a page reads of its address, and what it says of a part that it cannot read.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import test from 'node:test';

import { unreadable } from '../../../static/js/compare/comparison.js';
import { NAMES, tellUnknown, url } from '../../../static/js/ui/address/query.js';
import { readTimes } from '../../../static/js/ui/address/times.js';
import { needsPage, openPage } from '../dom.js';

const PAGES = resolve(import.meta.dirname, '../../../static/js/pages');
const notes = () => [...document.querySelectorAll('#address-notes p')].map((p) => p.textContent);

/** The page's module with all that it imports. */
function loaded(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  const text = readFileSync(path, 'utf8');
  for (const [, name] of text.matchAll(/(?:from|import\(?) ?'(\.[^']+)'/g)) loaded(resolve(dirname(path), name), found);
  return found;
}

/** Parameters that the page's modules read; two lists of names are read in loops. */
function read(page) {
  const found = new Set();
  for (const path of loaded(join(PAGES, `${page}.js`))) {
    const text = readFileSync(path, 'utf8');
    for (const [, name] of text.matchAll(/\burl\.(?:get|number|choice)\(\s*'(\w+)'/g)) found.add(name);
    for (const [, list] of text.matchAll(/\[((?:'\w+', )+'\w+')\]\.map\(\(name\) => url\./g))
      for (const name of list.match(/\w+/g)) found.add(name);
    const [, filters] = /const (?:FILTERS|NAMES) = \[('[^\]]*)\]/.exec(text) ?? [];
    if (filters && /url\.get\(name\)/.test(text)) for (const name of filters.match(/\w+/g)) found.add(name);
  }
  return [...found].sort();
}

const ADDRESSES = {
  overview: '/',
  run: '/runs/3/',
  live: '/live/',
  server: '/runs/3/servers/1/',
  compare: '/compare/',
  audit: '/audit/',
  clusters: '/clusters/',
  scenarios: '/scenarios/',
  scenario: '/scenarios/3/',
  sweeps: '/sweeps/',
  sweep: '/sweeps/3/',
  trace: '/traces/3/',
  traces: '/traces/',
};

test('every parameter that a page reads is known as one of it, and no other', () => {
  const pages = readdirSync(PAGES).map((name) => name.replace('.js', ''));
  for (const page of Object.keys(ADDRESSES)) assert.ok(pages.includes(page), page);
  for (const page of pages) {
    const names = NAMES.find(([path]) => path.test(ADDRESSES[page] ?? '-'))?.[1] ?? [];
    if (page === 'server')
      assert.deepEqual(
        read(page).filter((name) => !names.includes(name)),
        [],
        'its links carry the address of the run page',
      );
    else assert.deepEqual(read(page), [...names].sort(), page);
  }
});

test('an unknown parameter, a wrong choice and a wrong number are named with their rules', needsPage, () => {
  openPage('/runs/3/?at=-5&state=gone&page=-1&t=soon&event=1e3&q=x', 'run.html');
  tellUnknown();
  assert.equal(url.choice('state', ['queued', 'running'], '', 'Jobs in every state are listed.'), '');
  assert.equal(url.number('page', { from: 1, instead: 'The first page is shown.' }), null);
  assert.equal(url.number('event', { from: 1, to: 20, instead: 'No event is selected.' }), null);
  assert.equal(url.get('q'), 'x');
  const [unknown, ...values] = notes();
  assert.match(unknown, /^This page has no parameter “at”; known: t, from, to, .*\. It is ignored\.$/);
  assert.deepEqual(values, [
    '“state” in the address must be one of queued, running, got “gone”. Jobs in every state are listed.',
    '“page” in the address must be a whole number of at least 1, got “-1”. The first page is shown.',
    '“event” in the address must be a whole number from 1 to 20, got “1e3”. No event is selected.',
  ]);
  url.number('page', { from: 1, instead: 'The first page is shown.' });
  assert.equal(notes().length, 4, 'each sentence once');
});

test('of many choices the first are named', needsPage, () => {
  openPage('/sweeps/?scenario=99', 'sweeps.html');
  const known = Array.from({ length: 60 }, (_, i) => String(60 - i));
  assert.equal(url.choice('scenario', known, '60', 'The newest is selected.'), '60');
  const rule = 'must be one of 60, 59, 58, 57, 56 and 55 more';
  assert.deepEqual(notes(), [`“scenario” in the address ${rule}, got “99”. The newest is selected.`]);
});

test('an inherited name is no choice', needsPage, () => {
  openPage('/runs/3/?rows=constructor', 'run.html');
  assert.equal(url.choice('rows', ['servers', 'jobs'], 'servers', 'Rows are servers.'), 'servers');
  assert.equal(notes().length, 1);
});

test('a page without parameters says so', needsPage, () => {
  openPage('/traces/?sort=name', 'traces.html');
  tellUnknown();
  assert.deepEqual(notes(), ['This page has no parameter “sort”; it has none. It is ignored.']);
});

/** What `readTimes` does with an address, of a run that ends at 1000. */
function times(query, finished = true) {
  openPage(`/runs/3/${query}`, 'run.html');
  const done = [];
  const view = { extent: 1000, set: (from, to) => done.push(['range', from, to]) };
  readTimes(view, { liveMs: 1000, scrub: (at) => done.push(['time', at]) }, finished);
  return { done, notes: notes() };
}

test('times of the address are used, or refused with the newest time', needsPage, () => {
  assert.deepEqual(times('?t=500&from=100&to=300'), {
    done: [
      ['range', 100, 300],
      ['time', 500],
    ],
    notes: [],
  });
  assert.deepEqual(times('?t=1001'), {
    done: [],
    notes: ['“t” in the address must be a whole number from 0 to 1000, got “1001”. The newest time is shown.'],
  });
  for (const query of ['?from=300&to=100', '?from=2000&to=3000'])
    assert.match(
      times(query).notes[0],
      /^“from” in the address must be less than “to”, and less than the end of the run, 1000 ms/,
    );
});

test('what is no run in a list of runs is named', () => {
  assert.deepEqual(unreadable('3, 5,x,,5'), ['x']);
  assert.deepEqual(unreadable('abc'), ['abc']);
  assert.deepEqual(unreadable(null), []);
});

test('parameters are written without those that are empty', needsPage, () => {
  openPage('/runs/3/?from=100&to=x&p=&job=7', 'run.html');
  url.set({ job: '', to: 250, p: null });
  assert.equal(location.pathname + location.search, '/runs/3/?from=100&to=250');
  assert.deepEqual([url.get('job'), url.number('to', { instead: 'The whole time is shown.' })], [null, 250]);
});

test('an answer of the API that is shown as a page says nothing of its parameters', needsPage, () => {
  openPage('/api/runs/1/jobs/?page=x', 'error.html');
  tellUnknown();
  assert.deepEqual(notes(), []);
});
