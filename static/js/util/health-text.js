// Faults of the twin as sentences, shown to operators on every page.

import { capital } from './format.js';

/**
 * @typedef {{
 *   database?: boolean, database_fault?: string, broker?: boolean, missing?: string[], starting?: string[],
 *   disk?: string,
 *   processes?: {name: string, kind: string, answers: boolean, trouble?: string}[],
 * }} Health as GET /healthz answers
 */

/**
 * One sentence for each fault; none without faults.
 *
 * @param {Health} health
 */
export function faults({ database, database_fault: fault, broker, missing = [], starting = [], disk, processes = [] }) {
  const found = [];
  const why = fault ?? 'it does not respond';
  if (database === false) found.push(`The database accepts no writes: ${why}. Runs wait.`);
  if (broker === false) found.push('The message broker does not respond. Runs, imports and live updates are stopped.');
  if (disk) found.push(`The disk is full: ${disk}.`);
  const troubled = processes.filter(({ answers, trouble }) => trouble || !answers);
  for (const { kind, trouble } of troubled) {
    const text = trouble || `the ${kind} does not respond`;
    found.push(`${capital(text)}.`);
  }
  // a worker that is not there has no dispatcher either
  const gone = missing.filter(
    (kind) =>
      !starting.includes(kind) &&
      !troubled.some((process) => process.kind === kind) &&
      !missing.some((other) => kind === `dispatcher of the ${other}`),
  );
  if (gone.length) found.push(gone.length > 1 ? `Not running: ${gone.join(', ')}.` : `No ${gone[0]} is running.`);
  return found;
}
