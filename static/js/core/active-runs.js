// Statuses of runs that have not ended, as in twin/models/runs.py.

export const ACTIVE = ['queued', 'running', 'paused'];

/** Statuses of runs that have begun. */
export const BEGUN = ['running', 'paused'];
