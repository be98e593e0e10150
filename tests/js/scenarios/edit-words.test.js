// Edits in words; titles and details of the audit list; and which edits of a fork are past.

import assert from 'node:assert/strict';
import test from 'node:test';

import { actionTitle } from '../../../static/js/models/titles.js';
import { detailText } from '../../../static/js/scenarios/audit-detail.js';
import { editLine } from '../../../static/js/scenarios/edit-line.js';
import { wasPlayed } from '../../../static/js/scenarios/edits/edit-list.js';

const FORK_MS = 60_200_379; // 16:43:20.379
const KEPT = { verb: 'scale_arrivals', factor: 2, at_ms: 3_600_000 };

test('an edit in words: its title, and times as people read them', () => {
  const verbs = [{ name: 'drain_servers', title: 'Drain servers' }];
  const edit = { verb: 'drain_servers', servers: 'a', from_ms: 3_600_000, to_ms: null, at_ms: 1000, off: true };
  assert.equal(editLine(edit, verbs), '(off) Drain servers at 00:00:01: servers a, from 01:00:00');
  const other = { verb: 'change_scheduler', scheduler: 'drf', parameters: '', at_ms: 1000 };
  assert.equal(editLine(other, verbs), 'Change scheduler at 00:00:01: scheduler drf', 'nothing about an empty field');
  const parameters = [
    { name: 'overhead_ms', title: 'Reload time of a gang', type: 'int', unit: 'ms' },
    { name: 'limits', title: 'Limits', type: 'str', unit: 'worker-hours' },
    { name: 'order', title: 'Order', type: 'str', unit: '', titles: { time_left: 'Time left' } },
    { name: 'refine', title: 'Refinement', type: 'bool', unit: '' },
  ];
  const given = { ...other, parameters: 'overhead_ms=90000 limits=500 order=time_left refine=true new=a=b' };
  assert.equal(
    editLine(given, verbs, [{ name: 'drf', parameters }]),
    'Change scheduler at 00:00:01: scheduler drf, reload time of a gang 1m 30s, limits 500 worker-hours, ' +
      'order Time left, refinement yes, new a=b',
  );
  assert.match(
    editLine(given, verbs),
    /scheduler drf, overhead_ms 90000, limits 500,/,
    'a scheduler that is not known',
  );
});

test('the audit list states times and edits in words', () => {
  const edit = { verb: 'fail_servers', at_ms: 120_000_000, servers: 'w00', for_ms: 10_800_000 };
  assert.equal(
    detailText({ version: 2, before: { edits: [] }, after: { edits: [edit] } }),
    'version 2, before: no edits, after: Fail servers at 1d 09:20:00: servers w00, for 3h',
  );
  assert.equal(
    detailText({ seconds: 24.1, reason: 'no worker', clock_ms: 50_400_000 }),
    'for 24.1 s, reason: no worker, clock 14:00:00',
  );
  assert.equal(detailText({ name: 'lab', scopes: ['read'], since: null }), 'lab, scopes read, since none');
  assert.equal(detailText({ speed: 59.9981 }), 'speed 60 s per second');
  assert.equal(detailText({ in_place_of: 3, live: 4 }), 'in place of run 3, as live run 4');
  assert.equal(detailText({ map: { run: 'wall', unit_ms: null }, seen: true }), 'map (run wall, unit none), seen yes');
  assert.equal(detailText({ after: { edits: [], seed: 3 } }), 'after: no edits, seed 3', 'nothing is left out');
  assert.equal(detailText({}), '');
  const known = {
    schedulers: [{ name: 'drf', title: 'DRF' }],
    verbs: [{ name: 'fail_servers', title: 'Fail servers' }],
  };
  assert.equal(
    detailText({ scheduler: 'drf', mode: 'mirror', before: { edits: [edit], scheduler: 'drf' } }, known),
    'scheduler DRF, mode mirrored, before: Fail servers at 1d 09:20:00: servers w00, for 3h, scheduler DRF',
  );
  assert.equal(
    detailText({ ending: 'off', changed: 'sites, interval_ms' }),
    'reason for the end: rule switched off, changed sites, interval',
  );
});

test('actions of the audit list have titles', () => {
  const titles = ['run.start', 'alert_rule.change', 'acting.stop', 'plan.applied', 'connection.test'].map(actionTitle);
  assert.deepEqual(titles, ['Start run', 'Change alert rule', 'Stop all plans', 'Apply plan', 'Test connection']);
});

test('only an edit that came with the fork is past: any other can be changed or removed', () => {
  const fork = { fork_ms: FORK_MS, edits: [KEPT, { ...KEPT, factor: 5, off: true }] };
  assert.equal(wasPlayed({ ...KEPT }, fork), true);
  assert.equal(wasPlayed({ ...KEPT, factor: 3 }, fork), false, 'not among the stored edits');
  assert.equal(wasPlayed(fork.edits[1], fork), false, 'off: never played');
  assert.equal(wasPlayed({ ...KEPT, at_ms: FORK_MS }, fork), false);
  assert.equal(wasPlayed(KEPT, { fork_ms: null, edits: [KEPT] }), false);
});
