// Co-location: groups of jobs that share machines, with computation and communication interleaved.

import { groupCurves, groupUse, machinesIn } from '../charts/use/group-use.js';
import { JOB_STATES } from '../core/job-state.js';
import { GroupBands } from '../gantt/layers/colocation/group-bands.js';
import { JobStates } from '../gantt/layers/colocation/job-states.js';
import { Regroupings } from '../gantt/layers/colocation/regroupings.js';
import { SiteUse } from '../gantt/layers/colocation/site-use.js';
import { number, percent, plural } from '../util/format.js';
import { staysOn } from './group-stays.js';
import { phaseAt } from '../core/phases.js';
import { slotted } from './slotted.js';

const COLUMNS = ['job', 'start_ms', 'end_ms', 'born_ms', 'died_ms', 'role', 'count', 'worker_slot'];

export const colocation = {
  name: 'colocation',
  states: JOB_STATES,
  otherStates: {},
  stops: slotted.stops,
  inUse: () => 'Use',
  tiles: () => [
    ['used-cpu', 'groups.cpu_utilization'],
    ['used-net', 'groups.net_utilization'],
  ],
  shares,
  utilization: groupCurves,
  jobColumns: [
    {
      title: 'Group',
      number: true,
      sparse: true, // only jobs that are in a group at the time shown have values
      cell: ({ here }) => (here ? `${here.group}, ${plural(here.machines, 'machine')}` : '–'),
    },
    { title: 'Share on disk', number: true, sparse: true, cell: ({ here }) => (here ? percent(here.disk_ratio) : '–') },
    {
      title: 'Memory',
      number: true,
      sparse: true,
      cell: ({ here }) => (here ? `${number(here.memory_gb, 1)} GB` : '–'),
    },
  ],
  legend: [
    {
      mark: 'group-mark',
      text: 'group of jobs: colour by its number, a line at each change of its jobs or machines',
      rows: 'servers',
    },
    { mark: 'solid', text: 'computation of all machines of a group (COMP): upper half of its rows', rows: 'servers' },
    {
      mark: 'hatch',
      text: 'communication of all machines of a group (PULL, PUSH): lower half of its rows',
      rows: 'servers',
    },
    { mark: 'idle-mark', text: 'idle resource (zoom in to see single iterations)', rows: 'servers' },
    { mark: 'regroup-mark', text: 'regrouped' },
    { mark: 'solid', text: 'running', rows: 'jobs' },
    { mark: 'dots', text: 'profiling: computation and communication times are being measured', rows: 'jobs' },
    { mark: 'hatch', text: 'moving: model and input are being transferred', rows: 'jobs' },
    { mark: 'dashes', text: 'suspended', rows: 'jobs' },
  ],
  layers: ({ store, info, redraw }) => [
    new GroupBands(store, info, redraw, (ms) => phaseAt(info.phases, ms).model === colocation.name),
    new SiteUse(store, info),
    new JobStates(store, info),
    new Regroupings(store),
  ],
  ofJobs: (order) => order !== 'servers' && order !== 'sites',
  subRows: () => null,
  measures: () => [],
  stacks: (server, info, bars) => [
    {
      key: 'jobs',
      title: 'Jobs that share this machine',
      unit: 'jobs',
      capacity: null,
      amountOf: (bar) => bars().shared[bar],
    },
  ],
  barsOn,
};

function shares(store, info, p, from, width, bins) {
  const use = groupUse(store, info, p, from, width, bins);
  const machines = machinesIn(info.cluster.servers, from, width, bins);
  const both = (sites, bin) => sites[0][bin] + sites[1][bin];
  const share = (sites) =>
    Float64Array.from({ length: bins }, (_, bin) =>
      both(machines, bin) > 0 ? both(sites, bin) / both(machines, bin) : NaN,
    );
  return { 'used-cpu': share(use.cpu), 'used-net': share(use.net) };
}

/** The bars on the server, and the rows of the stays of jobs in groups (`shared`), each with a count of 1. */
function barsOn(own, server, store) {
  let [known, seq] = [null, -1];
  return () => {
    if (known && seq === store.lastSeq) return known;
    seq = store.lastSeq;
    const { bars, rows } = own();
    const mine = rows.map((bar) => [...COLUMNS.map((name) => bars[name][bar]), 0]);
    for (const stay of staysOn(store, server)) mine.push([...stay, 1]);
    const columns = [...COLUMNS, 'shared'].map((name, i) => [name, Float64Array.from(mine, (row) => row[i])]);
    return (known = { bars: { length: mine.length, ...Object.fromEntries(columns) }, rows: [...mine.keys()] });
  };
}
