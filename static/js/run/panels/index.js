// The charts of the run page, from top to bottom: a chart is a file in this folder and a line in this list.

import { PANELS } from './registry.js';

import './prices.js';
import './certificate.js';
import './utilization.js';
import './job-counts.js';

export { PANELS };
