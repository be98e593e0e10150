// The only import of Chart.js: its UMD file sets globalThis.Chart (the ES build imports a bare name, which needs a
// bundler).
import '../../../vendor/chart.js/chart.umd.min.js';

export const Chart = globalThis.Chart;
