// Number of jobs in each state over time.

import { queueChart } from '../../charts/job-counts.js';
import { stateWord, statesOf } from '../../models/index.js';
import { registerPanel } from './registry.js';

registerPanel({
  id: 'queue',
  title: 'Jobs over time',
  make({ store, info, view, playhead }, { legend, canvas }) {
    const states = statesOf(info).map((key) => ({ key, name: stateWord(info, key) }));
    const chart = queueChart(canvas, { store, states, view, playhead, legend });
    return { chart, update: () => chart.update() };
  },
});
