// Plans: the words of a change, and the card of a plan in its states.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changeText } from '../../../static/js/plans/plan-card.js';
import { stoppedText } from '../../../static/js/plans/rule.js';
import { sentence } from '../../../static/js/util/format.js';

test('a change is shown with both values', () => {
  assert.equal(changeText({ field: 'nice', before: 0, after: -100 }), 'nice 0 → −100');
  assert.equal(changeText({ field: 'nodes', before: '', after: 'edge1,edge2' }), 'required nodes: none → edge1,edge2');
  const at = Date.UTC(2001, 1, 3, 4, 5);
  assert.equal(
    changeText({ field: 'not_before_ms', before: null, after: at }),
    'does not start before 2001-02-03 04:05 UTC',
  );
});

test('a reason becomes a sentence', () => {
  assert.equal(sentence('plans are off for lab'), 'Plans are off for lab.');
  assert.equal(sentence('Stopped!'), 'Stopped!');
  assert.equal(sentence(''), '');
});

test('a stop is one sentence with who and when', () => {
  const at = '2026-02-03T04:05:00Z';
  const text = stoppedText({ stopped: 'All plans are stopped.', stopped_by: 'ann', stopped_at: at });
  assert.equal(text, 'All plans are stopped (by ann, 2026-02-03 04:05 UTC).');
  assert.equal(
    stoppedText({ stopped: 'the file acting.stop exists', stopped_by: '', stopped_at: null }),
    'The file acting.stop exists.',
  );
});
