// Memberships of jobs in groups, as tests/fixtures/memberships.json pins them.
// tests/twin/eventlog/test_memberships.py reads it, too.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { spansOf } from '../../../static/js/core/job-spans.js';
import { MembershipIndex, memberships, membershipStates, stays } from '../../../static/js/core/memberships.js';
import { Store } from '../../../static/js/core/store.js';
import { stretchesOf } from '../../../static/js/gantt/layers/colocation/job-states.js';
import { staysOf } from '../../../static/js/models/group-stays.js';
import { frame } from '../builders.js';

const cases = JSON.parse(readFileSync(new URL('../../fixtures/memberships.json', import.meta.url)));
const OPEN = -1;

function storeUpTo(events, untilMs = Infinity) {
  const store = new Store();
  store.feed(frame(events.filter(([, at]) => at <= untilMs)));
  return store;
}

const byJob = (rows) => rows.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
const jobsOf = (moment) => [...new Set(moment.stays.map(([job]) => job))];
const asKnown = (until, p) => (until > p ? OPEN : until);

/** [job, state, from, until, group, servers] of the states, as known at p. */
function statesOf(store, jobs, p) {
  const index = new MembershipIndex(store);
  return jobs.flatMap((job) =>
    stretchesOf(index.of(job))
      .filter(({ state, from }) => state !== 'suspended' && from <= p)
      .map(({ state, from, until, data }) => [job, state, from, asKnown(until, p), data.group, data.servers]),
  );
}

for (const { name, events, moments } of cases) {
  for (const moment of moments) {
    const p = moment.at_ms;
    const begun = moment.states.filter(([, , from]) => from <= p); // a job may be ready later
    test(`stays and states in ${name} at ${p}, looking back and at the newest moment`, () => {
      for (const store of [storeUpTo(events), storeUpTo(events, p)]) {
        const found = stays(memberships(store.groups, p)).map((stay) => [
          stay.job,
          stay.from,
          stay.until,
          stay.group,
          stay.servers,
        ]);
        assert.deepEqual(byJob(found), moment.stays);
        const wanted = begun.map(([job, state, from, until, ...place]) => [
          job,
          state,
          from,
          asKnown(until, p),
          ...place,
        ]);
        assert.deepEqual(statesOf(store, jobsOf(moment), p), wanted);
      }
    });

    test(`the spans of jobs in ${name} at ${p} cover their states`, () => {
      const store = storeUpTo(events, p);
      for (const job of jobsOf(moment)) {
        const joined = [];
        for (const { begin, until, state } of spansOf(store, p).of(job)) {
          const last = joined.at(-1);
          if (last?.[0] === state && last[2] === begin) last[2] = until;
          else joined.push([state, begin, until]);
        }
        const wanted = [];
        for (const [of, state, from, until] of moment.states) {
          if (of !== job) continue;
          const [end, last] = [until === OPEN ? Infinity : until, wanted.at(-1)];
          if (last?.[0] === state && last[2] === from) last[2] = end;
          else wanted.push([state, from, end]);
        }
        assert.deepEqual(joined, wanted);
      }
    });

    test(`the stays on each server in ${name} at ${p} are those of the jobs`, () => {
      const store = storeUpTo(events, p);
      const servers = [...new Set(moment.stays.flatMap(([, , , , own]) => own))];
      for (const server of servers) {
        const wanted = [];
        for (const [job, from, until, , own] of moment.stays) {
          if (!own.includes(server)) continue;
          const last = wanted.at(-1); // it goes on in another group
          if (last?.[0] === job && last[2] === from) last[2] = until;
          else wanted.push([job, from, until]);
        }
        const found = staysOf(store, server).map(({ job, parts }) => [job, parts[0].from, parts.at(-1).until]);
        assert.deepEqual(byJob(found), byJob(wanted));
      }
    });
  }
}

test('a membership that lasts no time is none, and a job that is never ready in time only moves', () => {
  const data = { group: 0, servers: [0], jobs: [7], ready_ms: [80], profiling: [0] };
  const found = [
    ...memberships([
      [10, 10, data],
      [10, 50, data],
      [50, -1, data],
    ]),
  ];
  assert.deepEqual(
    found.map(({ from, until }) => [from, until]),
    [
      [10, 50],
      [50, -1],
    ],
  );
  assert.deepEqual(found.map(membershipStates), [
    [['moving', 10, 50]],
    [
      ['moving', 50, 80],
      ['running', 80, -1],
    ],
  ]);
});
