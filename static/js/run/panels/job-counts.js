// Number of jobs in each state over time.

import { queueChart } from '../../charts/job-counts.js';

export const jobCountsPanel = {
  id: 'queue',
  title: 'Jobs over time',
  make({ store, info, view, playhead }, { legend, canvas }) {
    const chart = queueChart(canvas, { store, info, view, playhead, legend });
    return { chart, update: () => chart.update() };
  },
};
