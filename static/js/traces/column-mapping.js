// Fields to which columns of an unknown CSV can be mapped, as in twin/traces/importers/mapped_csv.py. The only list of
// them in JavaScript.

/** hints: common names of such a column, the most specific first. */
export const FIELDS = [
  {
    name: 'arrival',
    title: 'Arrival',
    help: 'submission time of the job',
    needed: true,
    hints: ['arrival', 'submit', 'submission', 'creation', 'created', 'timestamp', 'time'],
  },
  {
    name: 'run',
    title: 'Run time',
    help: 'run time of the job; alternatively select its end',
    hints: ['runtime', 'duration', 'run', 'elapsed'],
  },
  {
    name: 'start',
    title: 'Start',
    hints: ['start', 'begin', 'launch'],
    help: 'start time, in the unit of the arrival; without a start and a run time, waiting counts as work',
  },
  {
    name: 'end',
    title: 'End',
    help: 'end time, in the unit of the arrival',
    hints: ['end', 'finish', 'completion', 'deletion'],
  },
  { name: 'id', title: 'ID', help: 'default: the row number', hints: ['jobid', 'id', 'jobname', 'job', 'name'] },
  {
    name: 'workers',
    title: 'Workers',
    help: 'requested number of workers',
    hints: ['workers', 'worker', 'nodes', 'instnum', 'scale'],
  },
  { name: 'gpus', title: 'GPUs', help: 'total of the job', hints: ['gpus', 'gpunum', 'numgpu', 'gpu', 'procs'] },
  { name: 'cpus', title: 'vCPU', help: 'per worker', hints: ['cpus', 'vcpu', 'cpunum', 'numcpu', 'cpu', 'cores'] },
  { name: 'memory_gb', title: 'Memory, GB', help: 'per worker', hints: ['memorygb', 'memory', 'mem', 'ram'] },
  { name: 'model', title: 'Model', help: 'e.g. resnet50', hints: ['modelname', 'model', 'network'] },
  {
    name: 'group',
    title: 'Virtual cluster',
    help: 'also a queue or partition',
    hints: ['vc', 'virtualcluster', 'queue', 'partition', 'group'],
  },
  { name: 'user', title: 'User', help: 'submitting user', hints: ['user', 'owner'] },
  {
    name: 'status',
    title: 'Status',
    help: 'rows of pending or running jobs are skipped',
    hints: ['status', 'state', 'phase'],
  },
];

export const UNITS = [
  ['s', 'seconds'],
  ['ms', 'milliseconds'],
  ['us', 'microseconds'],
  ['min', 'minutes'],
  ['h', 'hours'],
];
export const DATETIME = ['datetime', 'date and time'];
const DATE = /^\d{4}-\d\d-\d\d([T ]|$)/;

/** {field: column} by the columns' names, and arrival_unit by the first row's cell. A column is used once. */
export function guess(columns, cells = []) {
  const plain = columns.map((column) => column.toLowerCase().replace(/[^a-z0-9]/g, ''));
  const used = new Set();
  const mapping = {};
  const find = (fits) => plain.findIndex((name, i) => !used.has(i) && fits(name));
  for (const field of FIELDS) {
    for (const hint of field.hints) {
      const exact = find((name) => name === hint);
      const at = exact < 0 && hint.length > 2 ? find((name) => name.startsWith(hint)) : exact;
      if (at < 0) continue;
      used.add(at);
      mapping[field.name] = columns[at];
      break;
    }
  }
  const at = columns.indexOf(mapping.arrival);
  if (DATE.test(cells[at] ?? '')) mapping.arrival_unit = DATETIME[0];
  return mapping;
}

/** What is missing in a mapping: {field: sentence}. */
export function lacking(mapping) {
  const missing = {};
  if (!mapping.arrival) missing.arrival = 'Select the column of the arrival.';
  if (!mapping.run && !mapping.end) missing.run = 'Select a column for the run time or the end.';
  return missing;
}

/** The cells of a line; a quoted cell may contain the delimiter. */
export function cells(line, mark) {
  const found = [];
  let rest = line;
  while (rest !== null) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*/.exec(rest);
    const body =
      quoted && (rest.length === quoted[0].length || rest.startsWith(mark, quoted[0].length))
        ? quoted[0]
        : rest.split(mark, 1)[0];
    found.push(body === quoted?.[0] ? quoted[1].replaceAll('""', '"') : body.trim());
    rest = rest.length > body.length ? rest.slice(body.length + mark.length) : null;
  }
  return found;
}

/** The delimiter of a header, detected as on the server. */
export function separator(line) {
  return [...',\t;|'].reduce((best, mark) => (line.split(mark).length > line.split(best).length ? mark : best), ',');
}
