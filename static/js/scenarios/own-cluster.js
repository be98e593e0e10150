// The cluster of a trace, from its machines, among clusters with the newest first.

/** The oldest one of the trace: later ones are the same machines with another slot length or horizon. */
export function ownCluster(clusters, trace) {
  return clusters.findLast((cluster) => cluster.trace === trace) ?? null;
}
