// The note below a schedule: why rows are shaded, by what, and what would show single bars.

import assert from 'node:assert/strict';
import test from 'node:test';

import { linksNote } from '../../../static/js/run/schedule/gantt-tools.js';
import { noteParts, scheduleNote } from '../../../static/js/run/schedule/schedule-note.js';

const SERVER = { kind: 'server' };
const JOB = { kind: 'job' };

/** A schedule as the note reads it; its rows are shaded, and those of servers have a capacity. */
function gantt(frame, rows = [SERVER], siteUse = false, list = rows, groups = 0) {
  const views = rows.map((row) => ({ row, how: 'shade' }));
  return {
    frame: { views, first: 0, detail: 'shade', low: 0, inView: 67, hidesPs: false, tallest: false, ...frame },
    rows: { list, serversOf: (row) => (row === SERVER ? [{}] : []) },
    layer: (name) => ({ 'site-use': { inRows: () => siteUse }, 'group-bands': { shaded: groups } })[name],
  };
}

test('too many bars need a closer view, rows that are too short need more height', () => {
  const shares = 'allocated share of the most allocated resource of each row';
  assert.deepEqual(scheduleNote(gantt({})), {
    text: `67 bars in view: shaded by the ${shares}; zoom in for single bars.`,
    scale: true,
  });
  assert.equal(
    scheduleNote(gantt({ low: 30 })).text,
    `67 bars in view, rows too short for single bars: shaded by the ${shares}; press + for taller rows.`,
  );
  assert.equal(
    scheduleNote(gantt({ low: 30, tallest: true })).text,
    `67 bars in view, rows too short for single bars: shaded by the ${shares}.`,
  );
  assert.equal(
    scheduleNote(gantt({ detail: 'bars', low: 1 })).text,
    `1 row, marked in grey beside the name, is too short for single bars and shows the ${shares}; ` +
      'press + for taller rows.',
  );
  assert.match(scheduleNote(gantt({ inView: 0 })).text, /^No bars in these rows/);
  assert.equal(scheduleNote(gantt({ inView: 0, store: { groups: [1] } })).text, '', 'groups are drawn instead of bars');
});

test('the parts of a note that are hints are told apart', () => {
  const { text } = scheduleNote(gantt({ detail: 'bars', narrow: true, hidesPs: true }));
  assert.deepEqual(
    noteParts(text).filter(([, hint]) => hint),
    [
      ['; zoom in to see their lengths', true],
      ['; press + to show them', true],
    ],
  );
  assert.equal(
    noteParts(text)
      .map(([part]) => part)
      .join(''),
    text,
  );
  assert.deepEqual(noteParts(''), []);
});

test('rows without a capacity are shaded relative to their own maximum', () => {
  assert.match(
    scheduleNote(gantt({}, [JOB])).text,
    /shaded by the number of workers relative to its maximum in the row;/,
  );
  assert.match(
    scheduleNote(gantt({}, [SERVER, JOB])).text,
    /resource of each row, or, in rows without a capacity, the number of workers relative to its maximum in the row;/,
  );
});

test('rows of sites of co-location runs have a note of their own, and bars need no scale', () => {
  assert.deepEqual(scheduleNote(gantt({}, [SERVER], true)), {
    text: 'CPU above, network below: used share of the machines of the site.',
    scale: true,
  });
  assert.deepEqual(scheduleNote(gantt({ detail: 'bars', hidesPs: true })), {
    text: 'Parameter servers are hidden in rows that are too short; press + to show them.',
    scale: false,
  });
});

test('groups too narrow to be told apart are shaded, which the note states', () => {
  assert.deepEqual(scheduleNote(gantt({ detail: 'bars' }, [SERVER], false, [SERVER], 1081)), {
    text:
      '1,081 groups in view, too narrow to show singly: shaded by the higher utilization of CPU and network of each ' +
      'machine; zoom in for single groups.',
    scale: true,
  });
});

test('bars that are drawn wider than they last, and rows out of view, are stated', () => {
  assert.equal(
    scheduleNote(gantt({ detail: 'bars', narrow: true, first: 34 }, [JOB, JOB], false, { length: 24134 })).text,
    'Most bars in view are narrower than a pixel and are drawn one pixel wide; zoom in to see their lengths. ' +
      'Rows 35 to 36 of 24,134 are in view.',
  );
});

test('the note on the arrows asks for taller rows only if rows can be taller', () => {
  const note = (frame) => linksNote({ on: true, drawn: false }, { detail: 'shade', low: 0, tallest: false, ...frame });
  assert.match(note({}), /^Zoom in/);
  assert.match(note({ low: 3 }), /^Make the rows taller/);
  assert.equal(
    note({ low: 3, tallest: true }),
    'Rows of this height are too short for single bars, so no arrows are drawn.',
  );
  assert.match(note({ detail: 'bars' }), /^No suspended job resumes/);
});
