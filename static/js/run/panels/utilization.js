// Utilization over time.

import { utilizationChart } from '../../charts/use/utilization.js';
import { modelsOf } from '../../models/index.js';
import { setText } from '../../ui/dom.js';
import { registerPanel } from './registry.js';

registerPanel({
  id: 'utilization',
  title: 'Utilization',
  make({ store, info, metrics, view, playhead }, { heading, legend, canvas, note }) {
    const models = modelsOf(info);
    const only = models.length === 1 ? models[0] : null;
    const sources = models.map(({ name, utilization }) => ({ name, ...utilization(store, info) }));
    const chart = utilizationChart(canvas, { phases: info.phases, sources, store, view, playhead, legend });
    const refresh = () => {
      if (only) setText(heading, only.inUse(metrics, store));
      setText(note, chart.note(playhead.ms));
    };
    refresh();
    return { chart, update: () => chart.update(), refresh };
  },
});
