// Which of the clusters, the newest first, is the trace's own: the machines that came with it.

/** The first that was made for the trace: later ones are the same machines under another slot length or horizon. */
export function ownCluster(clusters, trace) {
  return clusters.findLast((cluster) => cluster.trace === trace) ?? null;
}
