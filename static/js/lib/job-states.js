// What each job is doing at a moment, by the rules of the server's table of jobs (dashboard/jobs.py, states).

import { NEVER, WORKER, trueAt } from '../store.js';

export const JOB_STATES = ['queued', 'planned', 'running', 'suspended', 'completed', 'rejected', 'unfinished'];
export const [QUEUED, PLANNED, RUNNING, SUSPENDED, COMPLETED, REJECTED, UNFINISHED] = JOB_STATES.keys();
export const ABSENT = 255; // has not arrived

/** [job] place in JOB_STATES at moment p, or ABSENT. */
export function jobStates({ jobs, bars, verdicts, finished, simMs }, p) {
  const codes = new Uint8Array(jobs.length).fill(ABSENT);
  const running = new Uint8Array(jobs.length);
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.role[bar] === WORKER && bars.start_ms[bar] <= p && bars.end_ms[bar] > p && trueAt(bars, bar, p)) running[bars.job[bar]] = 1;
  }
  const over = finished && p >= simMs;
  for (let job = 0; job < jobs.length; job++) {
    if (jobs.arrived_ms[job] === NEVER || jobs.arrived_ms[job] > p) continue;
    const decided = jobs.decided_ms[job] !== NEVER && jobs.decided_ms[job] <= p;
    if (jobs.completed_ms[job] !== NEVER && jobs.completed_ms[job] <= p) codes[job] = COMPLETED;
    else if (decided && verdicts[job][0] === 'rejected') codes[job] = REJECTED;
    else if (running[job]) codes[job] = RUNNING;
    else if (over || (decided && verdicts[job][0] === 'unfinished')) codes[job] = UNFINISHED;
    else if (!decided) codes[job] = QUEUED;
    else if (jobs.start_ms[job] === NEVER || jobs.start_ms[job] > p) codes[job] = PLANNED;
    else codes[job] = SUSPENDED;
  }
  return codes;
}
