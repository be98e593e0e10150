// The charts of the run page, from top to bottom: a chart is a file in this folder and a line in this list.

import { certificatePanel } from './certificate.js';
import { jobCountsPanel } from './job-counts.js';
import { pricesPanel } from './prices.js';
import { utilizationPanel } from './utilization.js';

export const PANELS = [pricesPanel, certificatePanel, utilizationPanel, jobCountsPanel];
