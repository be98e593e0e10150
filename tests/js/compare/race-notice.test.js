// The message about a race: the schedulers that were left out.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open, serve } from '../dom.js';
import { showRace } from '../../../static/js/compare/race-notice.js';

const left = (title, model, reason) => ({ scheduler: title, title, reason, model });

test('schedulers of other execution models are named once by model', needsPage, async () => {
  open('/compare/', '<div id="compared"></div>');
  const able = ['oasis', 'fifo', 'drf'].map((scheduler) => ({ scheduler, title: scheduler }));
  const long = 'its execution model is typed workers, and that of this race is slotted (jobs train by chunks)';
  const out = [left('SRTF', 'typed workers', long), left('A_online', 'typed workers', long)];
  serve([['/api/scenarios/1/race/', { name: 'Demo', able, left_out: [...out, left('RRH', '', 'no utility')] }]]);
  await showRace(1, [{ scheduler: 'oasis' }, { scheduler: 'drf' }]);
  assert.match(
    document.querySelector('#race').textContent,
    /^Race on “Demo”: 2 of 3 schedulers that support its cluster/,
  );
  const rows = [...document.querySelectorAll('#race li')].map((row) => row.textContent);
  assert.deepEqual(rows, ['SRTF, A_online: typed workers', 'RRH: no utility']);
  assert.ok(!document.querySelector('#race').textContent.includes('its execution model'));
});
