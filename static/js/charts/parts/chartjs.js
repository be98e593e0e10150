// The only import of Chart.js: its UMD file sets globalThis.Chart (the ES build imports a bare name, which needs a
// bundler).
import '../../../vendor/chart.js/chart.umd.min.js';
import { canvasRatio, onCanvasSize } from '../../ui/canvas-size.js';

export const Chart = globalThis.Chart;

// Charts follow the size of the window by themselves, in a later frame
onCanvasSize(() => {
  for (const chart of Object.values(Chart.instances)) {
    chart.options.devicePixelRatio = canvasRatio();
    chart.resize();
  }
});
