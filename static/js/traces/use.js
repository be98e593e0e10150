// The way from an imported trace to the form of a new run, where it is selected: its jobs, or else its servers.

import { Refusal } from '../core/client-errors.js';
import { h } from '../ui/dom.js';
import { ownCluster } from '../scenarios/own-cluster.js';

const LABEL = 'Use in a scenario';

/** The link of a trace with jobs, the button of a list of servers. look: class of the element. */
export function useInScenario(trace, look, fail) {
  if (trace.job_count) return h('a', { class: `button ${look}`, href: `/scenarios/?trace=${trace.id}` }, LABEL);
  const go = () => clusterAddress(trace.id).then((address) => location.assign(address), fail);
  return h('button', { type: 'button', class: look, onclick: go }, LABEL);
}

async function clusterAddress(trace) {
  const cluster = await ownCluster(trace);
  if (!cluster) throw new Refusal('The cluster of these servers has been deleted; import the files again.');
  return `/scenarios/?cluster=${cluster.id}`;
}
