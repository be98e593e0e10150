// Status tiles of a run at the moment shown, with sparklines over the whole run so far.

import { colors } from '../lib/colors.js';
import { fill, h, setText } from '../lib/dom.js';
import { duration, number, percent } from '../lib/format.js';
import { ABSENT, COMPLETED, JOB_STATES, jobStates } from '../lib/job-states.js';
import { counts } from '../charts/queue.js';
import { allocated, groupUse, offered } from '../charts/utilization.js';

const BINS = 60;
const SPARK_MS = 1000; // sparklines change slowly, and read every bar

/** {arrived, queued, running, planned, suspended, completed, rejected, unfinished, utility, jct (ms, their sum)} at moment p. */
export function summary(store, p) {
  const { jobs } = store;
  const sum = { arrived: 0, ...Object.fromEntries(JOB_STATES.map((name) => [name, 0])), utility: 0, jct: 0 };
  jobStates(store, p).forEach((code, job) => {
    if (code === ABSENT) return;
    sum.arrived++;
    sum[JOB_STATES[code]]++;
    if (code !== COMPLETED) return;
    sum.utility += jobs.utility[job];
    sum.jct += jobs.completed_ms[job] - jobs.arrived_ms[job];
  });
  return sum;
}

export class Tiles {
  constructor(element, store, info) {
    Object.assign(this, { store, info });
    const make = (key, title, hint) => {
      const value = h('dd', { id: `tile-${key}` }, '–');
      const canvas = h('canvas', { 'aria-hidden': 'true' });
      return { key, value, canvas, node: h('div', { class: 'tile', title: hint }, h('dt', {}, title), value, canvas) };
    };
    this.tiles = [make('running', 'Running', 'jobs with a worker bar at the moment shown'), make('queued', 'Queued', 'arrived and not decided'),
      info.scheduler.lanes ? make('suspended', 'Suspended', 'started, not done, and no worker runs') : make('planned', 'Planned', 'admitted; their bars lie ahead'), make('rejected', 'Rejected', 'never to run; open a job for the reason'),
      make('completed', 'Completed', 'all work done'), ...(info.scheduler.groups
        ? [make('cpu', 'CPU used', 'share of the CPU time of all machines that computation takes'), make('net', 'Network used', 'share of the time that communication takes')]
        : [make('gpu', 'GPU allocated', 'share of all GPUs in use at the moment shown'), make('cpu', 'vCPU allocated', 'share of all vCPU in use at the moment shown')]), info.worth ? make('utility', 'Utility earned', 'sum over completed jobs') : make('jct', 'Mean JCT', 'completion − arrival, over completed jobs')];
    fill(element, this.tiles.map((tile) => tile.node));
  }

  paint(p, liveMs) {
    const sum = summary(this.store, p);
    const now = this.#shares(p, p, 1, 1);
    const texts = { utility: number(sum.utility, 1), jct: sum.completed ? duration(sum.jct / sum.completed) : '–', ...Object.fromEntries(Object.entries(now).map(([key, values]) => [key, percent(values[0], 1)])) };
    for (const { key, value } of this.tiles) setText(value, texts[key] ?? number(sum[key], 0));
    if (performance.now() - (this.sparkedAt ?? -Infinity) < SPARK_MS && this.sparkedLive === (liveMs > 0)) {
      clearTimeout(this.later);
      this.later = setTimeout(() => this.#sparks(p, liveMs), SPARK_MS);
    } else this.#sparks(p, liveMs);
    return sum;
  }

  /** {gpu, cpu}: share of the resource that is allocated, per bin, both sites together; {cpu, net} that is used, of groups. */
  #shares(p, from, width, bins) {
    if (this.info.scheduler.groups) {
      const use = groupUse(this.store, this.info, p, from, width, bins);
      const share = (sites) => Float64Array.from({ length: bins }, (_, i) => (sites[0][i] + sites[1][i]) / this.info.cluster.servers.length);
      return { cpu: share(use.cpu), net: share(use.net) };
    }
    const use = allocated(this.store, this.info, p, from, width, bins);
    const room = offered(this.info.cluster.servers, from, width, bins);
    const share = (r) => Float64Array.from({ length: bins }, (_, i) => {
      const capacity = room[r][i] + room[5 + r][i];
      return capacity > 0 ? (use[r][i] + use[5 + r][i]) / capacity : NaN;
    });
    return { gpu: share(0), cpu: share(1) };
  }

  #sparks(p, liveMs) {
    this.sparkedAt = performance.now();
    this.sparkedLive = liveMs > 0;
    const until = Math.max(1, liveMs);
    const width = until / BINS;
    const series = counts(this.store, p, 0, width, BINS);
    const shares = this.#shares(p, 0, width, BINS);
    const lines = { running: series.running, queued: series.waiting, completed: series.completed, rejected: series.rejected, ...shares };
    const last = Math.ceil((p / until) * BINS);
    for (const { key, canvas } of this.tiles) {
      if (lines[key]) sparkline(canvas, lines[key], last);
      else canvas.hidden = true;
    }
  }
}

/** A line through values[0 .. count), from 0 to their greatest. */
function sparkline(canvas, values, count) {
  const ratio = devicePixelRatio || 1;
  const width = Math.max(1, canvas.clientWidth);
  const height = Math.max(1, canvas.clientHeight);
  if (canvas.width !== Math.round(width * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const ctx = canvas.getContext('2d');
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  let top = 0;
  for (let i = 0; i < count; i++) if (values[i] > top) top = values[i];
  if (!(top > 0)) return;
  ctx.strokeStyle = colors().accent;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let i = 0; i < count; i++) ctx.lineTo(((i + 0.5) / BINS) * width, height - 1.5 - (values[i] / top) * (height - 3));
  ctx.stroke();
}
