// The rows of the Gantt in each order: servers by site, jobs by arrival, or one row per site, user or queue; and on
// which of them a bar lies.

import { CLOUD } from '../core/columns/bars.js';
import { plural } from '../util/format.js';
import { Row } from './row.js';
import { SITES } from '../util/capacity.js';

const JOB_KEY = 2 ** 32; // indexes of jobs' rows below an opened queue or user, beside those of queues and users

/** Entries of the list of rows: [row, key of the bars that lie on it]; a heading has no key. */
/** @typedef {[row: Row, key?: any]} Entry */

const entry = (row) => /** @type {Entry} */ ([row, row.index]);
const folding = (row, fold) => Object.assign(row, { fold });
const matches = (query) => (name) => !query || name.toLowerCase().includes(query);

/**
 * Servers below their sites; a folded site is one row. models: give the fixed sub-rows of a server.
 *
 * @returns {Entry[]}
 */
export function serverRows({ info, query, folded, models }) {
  const { servers, cloud } = info.cluster;
  const match = matches(query);
  const bySite = SITES.flatMap((site) => {
    const members = servers
      .map((server, i) => [server, i])
      .filter(([server]) => server.site === site && match(server.name));
    if (!members.length) return [];
    const label = `${site} · ${plural(members.length, 'server')}`;
    if (folded.has(site)) return [entry(folding(new Row('many', label, site), true))];
    const head = folding(new Row('site', label, site), false);
    return [[head], ...members.map(([server, i]) => entry(serverRow(server, i, models)))];
  });
  if (!cloud || !match('cloud')) return bySite;
  return [...bySite, [new Row('site', 'unlimited cloud', 'unlimited')], entry(new Row('server', 'cloud', CLOUD))];
}

function serverRow(server, i, models) {
  const row = new Row('server', server.name, i);
  for (const model of models) row.typed ??= model.subRows(server);
  if (row.typed) row.subRows = row.typed[0] + row.typed[1];
  return row;
}

/**
 * One row per job, from the job with number `first` on.
 *
 * @returns {Entry[]}
 */
export function jobRows({ info, query, store }, first = 0) {
  const rows = [];
  for (let job = first; job < store.jobs.length; job++) if (matches(query)(nameOf(info, job))) rows.push(job);
  return rows.map((job) => entry(new Row('job', nameOf(info, job), job)));
}

const nameOf = ({ ids }, job) => ids?.[job] ?? `job ${job}`;

/**
 * One row per site, or one per user or queue in the order of their names; an opened one has a row for each of its jobs.
 *
 * @returns {Entry[]}
 */
export function manyRows({ info, query, folded, store, order }) {
  const match = matches(query);
  const jobs = order === 'sites' ? null : jobsBy(info[order].codes, store.jobs.length); // sites share jobs
  return namesOf(info, order)
    .filter(([label]) => match(label))
    .flatMap(([label, index]) => {
      const own = jobs?.get(index) ?? [];
      if (!folded.has(index)) return [entry(folding(new Row('many', label, index), jobs ? true : undefined))];
      const head = folding(new Row('site', `${label} · ${plural(own.length, 'job')}`, index), false);
      return [[head], ...own.map((job) => [new Row('job', nameOf(info, job), job), JOB_KEY + job])];
    });
}

/** [label, index] of each site, user or queue. */
function namesOf(info, order) {
  if (order === 'sites') {
    const { servers, cloud } = info.cluster;
    const sites = SITES.filter((site) => servers.some((server) => server.site === site)).map((site) => [site, site]);
    return cloud ? [...sites, ['unlimited cloud', 'unlimited']] : sites;
  }
  const { words, codes } = info[order];
  const named = words.map((word, code) => [word, code]).sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  return codes.includes(-1) ? [...named, ['none', -1]] : named;
}

/** The jobs of each user or queue, by code. */
function jobsBy(codes, count) {
  const found = new Map();
  for (let job = 0; job < count; job++) {
    if (!found.has(codes[job])) found.set(codes[job], []);
    found.get(codes[job]).push(job);
  }
  return found;
}

/** The key of the row that each bar lies on, as a function of the bar. */
export function ownerOf({ info, order, folded, store: { bars } }) {
  if (order === 'servers') {
    if (!folded.size) return (bar) => bars.server[bar];
    const keys = info.cluster.servers.map(({ site }, i) => (folded.has(site) ? site : i));
    return (bar) => keys[bars.server[bar]] ?? bars.server[bar];
  }
  if (order === 'jobs') return (bar) => bars.job[bar];
  if (order === 'sites') {
    const siteOf = info.cluster.servers.map((server) => server.site);
    return (bar) => (bars.server[bar] === CLOUD ? 'unlimited' : siteOf[bars.server[bar]]);
  }
  const { codes } = info[order];
  if (!folded.size) return (bar) => codes[bars.job[bar]];
  return (bar) => (folded.has(codes[bars.job[bar]]) ? JOB_KEY + bars.job[bar] : codes[bars.job[bar]]);
}
