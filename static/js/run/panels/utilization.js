// Utilization over time.

import { utilizationChart } from '../../charts/utilization.js';
import { modelsOf } from '../../models/index.js';
import { setText } from '../../ui/dom.js';

export const utilizationPanel = {
  id: 'utilization',
  title: 'In use',
  make({ store, info, metrics, view, playhead }, { heading, legend, canvas }) {
    const models = modelsOf(info);
    if (models.length === 1) setText(heading, models[0].inUse(metrics));
    const chart = utilizationChart(canvas, { store, info, view, playhead, legend });
    return { chart, update: () => chart.update() };
  },
};
