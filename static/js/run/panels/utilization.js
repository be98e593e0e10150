// Utilization over time.

import { utilizationChart } from '../../charts/utilization.js';
import { modelsOf } from '../../models/index.js';
import { setText } from '../../ui/dom.js';

export const utilizationPanel = {
  id: 'utilization',
  title: 'Utilization',
  make({ store, info, metrics, view, playhead }, { heading, legend, canvas, note }) {
    const models = modelsOf(info);
    const only = models.length === 1 ? models[0] : null;
    const chart = utilizationChart(canvas, { store, info, view, playhead, legend });
    const refresh = () => {
      if (only) setText(heading, only.inUse(metrics, store));
      setText(note, chart.note(playhead.ms));
    };
    refresh();
    return { chart, update: () => chart.update(), refresh };
  },
};
