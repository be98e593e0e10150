import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../../static/js/core/client-errors.js';
import { raceAll } from '../../../static/js/traces/race.js';
import { needsPage, open, serve } from '../dom.js';

for (const [count, sentence] of [
  [0, 'There is no cluster yet; “Use in a scenario” can generate one for these jobs.'],
  [1, 'The jobs fit on none of the newest clusters; “Use in a scenario” can generate one for these jobs.'],
])
  test(`a race with ${count} clusters, none of which fits, is refused in words`, needsPage, async () => {
    open('/traces/1/');
    serve([
      ['/api/schedulers/', [{ name: 'oasis' }]],
      ['/api/clusters/?trace=1&', { count: 0, results: [] }],
      ['/api/clusters/', { count, results: Array.from({ length: count }, () => ({ id: 7, trace: null })) }],
      ['/api/scenarios/suitability/', { cluster: null, warnings: [] }],
    ]);
    await assert.rejects(raceAll({ id: 1, name: 'a.csv' }), (error) => {
      assert.ok(error instanceof Refusal, 'it is no defect of the page');
      assert.equal(error.message, sentence);
      return true;
    });
  });
