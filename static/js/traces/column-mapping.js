// Fields and settings of a column mapping, as in twin/traces/importers/mapped_csv.py. The only list of them in
// JavaScript.

export const FIELDS = [
  { name: 'arrival', title: 'Arrival', help: 'Submission time of the job', needed: true },
  { name: 'run', title: 'Run time', help: 'Run time of the job; alternatively select its end' },
  { name: 'start', title: 'Start', help: 'Start time, in the unit of the arrival' },
  { name: 'end', title: 'End', help: 'End time, in the unit of the arrival' },
  { name: 'id', title: 'Id', help: 'Default: the row number' },
  { name: 'workers', title: 'Workers', help: 'Requested number of workers' },
  { name: 'gpus', title: 'GPUs', help: 'Total of the job' },
  { name: 'cpus', title: 'vCPU', help: 'Per worker' },
  { name: 'memory_gb', title: 'Memory', help: 'Per worker' },
  { name: 'model', title: 'Model', help: 'For example resnet50' },
  { name: 'group', title: 'Queue', help: 'Also a virtual cluster or partition' },
  { name: 'user', title: 'User', help: 'Submitting user' },
  { name: 'status', title: 'Status', help: 'Rows of pending or running jobs are skipped' },
];

export const UNITS = [
  ['s', 'seconds'],
  ['ms', 'milliseconds'],
  ['us', 'microseconds'],
  ['min', 'minutes'],
  ['h', 'hours'],
  ['d', 'days'],
];
const DATETIME = ['datetime', 'date and time'];
const MEMORY = ['GB', 'GiB', 'MB', 'MiB', 'KB', 'KiB', 'B'].map((unit) => [unit, unit]);
const ORDERS = [
  ['', 'determined from the dates'],
  ['day', 'day first'],
  ['month', 'month first'],
];

/** Settings beside the column of a field: {field: [[setting, title, choices], ...]}. */
export const SETTINGS = {
  arrival: [
    ['arrival_unit', 'Unit of the arrival', [...UNITS, DATETIME]],
    ['date_order', 'Order of day and month', ORDERS],
  ],
  run: [['run_unit', 'Unit of the run time', UNITS]],
  memory_gb: [['memory_unit', 'Unit of the memory', MEMORY]],
};

/** Missing parts of a mapping: {field: sentence}. */
export function lacking(mapping) {
  const missing = {};
  if (!mapping.arrival) missing.arrival = 'Select the column of the arrival.';
  if (!mapping.run && !mapping.end) missing.run = 'Select a column for the run time or the end.';
  return missing;
}

/** True if the time between arrival and start counts as run time, because neither a run time nor a start is known. */
export const countsWaiting = (mapping) => Boolean(mapping.arrival && mapping.end && !mapping.run && !mapping.start);

/** A mapping without settings that have no effect, such as the order of dates that are numbers. */
export function effective(mapping) {
  const kept = { ...mapping };
  if (kept.arrival_unit !== DATETIME[0]) delete kept.date_order;
  for (const [field, settings] of Object.entries(SETTINGS))
    if (!kept[field]) for (const [setting] of /** @type {any} */ (settings)) delete kept[setting];
  return kept;
}

/** The mapping in the text of a saved file; an Error with one sentence if it is none. */
export function loaded(text, columns) {
  let found;
  try {
    found = JSON.parse(text).mapping;
  } catch {
    found = undefined;
  }
  if (!found || typeof found !== 'object') throw new Error('This is not a saved column mapping.');
  const fields = new Set(FIELDS.map(({ name }) => name));
  const missing = Object.entries(found).find(([field, column]) => fields.has(field) && !columns.includes(column));
  if (missing) throw new Error(`The file has no column ${missing[1]}, which the mapping uses for ${missing[0]}.`);
  return found;
}
