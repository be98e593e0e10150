// Servers and a time range that were selected in the schedule with Alt and drag: a what-if scenario that drains them.

import { confirmed, informed } from '../../ui/confirm.js';
import { afterTheEnd, drainOf, forkAt } from '../forks.js';

/** A function of the selection {servers, from, to} or {why: it holds none}. onError(error): the fork was refused. */
export function drainSelection({ runId, store, info, transport }, onError) {
  const { began_at: beganAt } = info.run;
  return async ({ servers, from, to, why }) => {
    if (why) return informed(why);
    const names = servers.map((server) => info.cluster.servers[server].name);
    const until = store.finished ? Math.min(to, store.simMs) : to;
    if (from >= until) return informed(afterTheEnd(store.simMs, beganAt));
    const { atMs, edits, sentence } = drainOf({ names, from, to: until }, transport.forkMs, beganAt);
    if (!(await confirmed(sentence, 'Create scenario', 'primary'))) return;
    if (atMs < transport.forkMs) transport.show(atMs);
    forkAt(runId, atMs, edits).catch(onError);
  };
}
