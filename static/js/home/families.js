// Runs with their forks: a fork stands below the run that it continues, where that one is listed too.

import { capital } from '../util/format.js';

/** [{run, forks: [{run, depth}]}] in the order of the runs; forks in the order of their start. */
export function families(runs) {
  const known = new Map(runs.map((run) => [run.id, run]));
  const children = new Map();
  for (const run of [...runs].reverse())
    if (known.has(run.parent)) children.set(run.parent, [...(children.get(run.parent) ?? []), run]);
  const below = (run, depth) =>
    (children.get(run.id) ?? []).flatMap((fork) => [{ run: fork, depth }, ...below(fork, depth + 1)]);
  return runs.filter((run) => !known.has(run.parent)).map((run) => ({ run, forks: below(run, 1) }));
}

/** The name of a fork without that of its parent, which stands above it. */
export function forkName(run, parent) {
  const name = run.scenario_name.startsWith(parent.scenario_name)
    ? run.scenario_name.slice(parent.scenario_name.length).replace(/^[\s,]+/, '')
    : run.scenario_name;
  return name ? capital(name) : run.scenario_name;
}
