// Every figure of a run that has finished, as summary.json has them.

import { fill, h, setText } from '../lib/dom.js';
import { duration, number, percent } from '../lib/format.js';

const ms = (v) => duration(v);
const share = (v) => percent(v, 1);
const count = (v) => number(v, 0);
const times = (v) => `${number(v, 2)} ×`;
const mean = (v) => number(v, 1);

/** [path, title, format, what it means] */
const FIGURES = [
  ['total_utility', 'Total utility', (v) => number(v, 2), 'sum over completed jobs'],
  ['completed', 'Completed', count, 'jobs whose work is done'], ['rejected', 'Rejected', count, 'jobs that were turned away'],
  ['mean_jct_ms', 'Mean JCT', ms, 'completion − arrival, over completed jobs'], ['median_jct_ms', 'Median JCT', ms, ''], ['p95_jct_ms', 'JCT, 95th percentile', ms, '19 of 20 took no longer'],
  ['makespan_ms', 'Makespan', ms, 'first arrival to last completion'],
  ['lanes.mean_slowdown', 'Mean slowdown', times, 'JCT over that of the job alone in the empty system'], ['lanes.p95_slowdown', 'Slowdown, 95th percentile', times, ''],
  ['suspensions', 'Suspensions', count, 'gaps of a started chunk, or of a job without chunks'], ['lanes.job_suspensions', 'Suspensions of jobs', count, 'times at which no worker of a started job ran'],
  ['lanes.communication_ms', 'Communication', ms, 'uploads, loads of moved gangs, and the exchange with parameter servers, summed over chunks'],
  ['lanes.upload_ms', 'Uploads', ms, 'summed over chunks'], ['lanes.transfer_ms', 'Loads of moved gangs', ms, ''], ['lanes.exchange_ms', 'Exchange of parameters', ms, 'the share of worker time that it takes'],
  ['lanes.cloud_chunks', 'Chunks in the cloud', count, ''], ['lanes.mean_busy', 'Lanes busy', share, 'mean over lanes and time'], ['lanes.peak_busy', 'Lanes busy at most', share, ''],
  ['groups.cpu_utilization', 'CPU used', share, 'over all machines, from the first arrival to the last completion'], ['groups.net_utilization', 'Network used', share, 'the same'],
  ['groups.mean_jobs', 'Jobs at a time', mean, 'in groups, mean'], ['groups.mean_groups', 'Groups at a time', mean, 'mean'], ['groups.mean_parallelism', 'Degree of parallelism', mean, 'machines of a group, mean'],
  ['groups.regroupings', 'Regroupings', count, ''], ['groups.moves', 'Moves', count, 'of running jobs to other groups or machines'],
  ['utilization.gpu', 'GPU allocated', share, 'mean, from the first arrival to the last bar'], ['utilization.cpu', 'vCPU allocated', share, ''], ['utilization.memory', 'Memory allocated', share, ''],
  ['utilization.storage', 'Storage allocated', share, ''], ['utilization.bandwidth', 'Bandwidth allocated', share, ''],
];

/** panel: hidden until there are figures; worth: whether jobs have a utility. */
export function paintMetrics(panel, metrics, decisions, worth) {
  const at = (path) => path.split('.').reduce((value, key) => value?.[key], metrics ?? {});
  const found = FIGURES.filter(([path]) => (at(path) ?? null) !== null && (worth || path !== 'total_utility'));
  panel.hidden = !found.length;
  if (panel.hidden) return;
  const busy = Object.entries(at('lanes.busy') ?? {}).flatMap(([site, kinds]) => Object.entries(kinds).map(([kind, v]) => [`Busy, ${site}, ${kind}`, share(v), 'workers of that type']));
  const cells = [...found.map(([path, title, format, help]) => [title, format(at(path)), help]), ...busy, ...(decisions?.count ? [['Time to decide, p95', `${number(decisions.p95, 2)} ms`, `measured: ${number(decisions.count, 0)} decisions, ${number(decisions.max, 1)} ms at most`]] : [])];
  setText(panel.querySelector('.muted'), `of the whole run, from its log: ${cells.length} figures`);
  fill(panel.querySelector('dl'), cells.map(([title, value, help]) => h('div', { title: help || null }, h('dt', {}, title), h('dd', {}, value))));
}
