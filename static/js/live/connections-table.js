// Table of live clusters: on their page, and at the top of the overview.

import { duration, number, wallOfUnix } from '../util/format.js';
import { h } from '../ui/dom.js';
import { ageMs, costText, eventText, isOld, notUpText, stateText, waiting } from './condition.js';
import { teamChip } from '../settings/team-chip.js';
import { codeText } from '../ui/labels/code-text.js';

/** elapsed() gives the ms since the rows were received; act(row): a button or null. */
export function columns(elapsed, act = null) {
  // a state without a job is not listed; without nodes nothing is known yet
  const count = ({ condition: { counts } }, key) => (counts.nodes === undefined ? null : (counts[key] ?? 0));
  return [
    {
      title: 'Cluster',
      value: (row) => row.name,
      cell: (row) => [h('a', { href: `/live/${row.name}/` }, row.name), teamChip(row)],
    },
    {
      title: 'State',
      value: (row) => row.condition.state,
      wide: true,
      cell: (row) => [
        stateCell(row.condition),
        mutedLine(eventText(row.condition, Date.now())),
        problemLine(notUpText(row.condition)),
      ],
    },
    { title: 'Connector', value: (row) => row.title, cell: (row) => row.title },
    {
      title: 'Data age',
      number: true,
      value: (row) => ageMs(row.condition, 0),
      hint: 'Time since the last answer of the cluster, or since its last post',
      cell: (row) => ageCell(row.condition, elapsed()),
    },
    {
      title: 'Nodes',
      number: true,
      value: (row) => count(row, 'nodes'),
      cell: (row) => number(count(row, 'nodes'), 0),
    },
    {
      title: 'Running',
      number: true,
      value: (row) => count(row, 'running'),
      cell: (row) => number(count(row, 'running'), 0),
    },
    {
      title: 'Waiting',
      number: true,
      value: (row) => waiting(row.condition),
      cell: (row) => (row.condition.counts.nodes === undefined ? '–' : number(waiting(row.condition), 0)),
    },
    {
      title: 'Lag',
      number: true,
      value: (row) => row.condition.lag.p50_ms ?? null,
      hint: 'Time from a submission, start or end to its record: median and 99th percentile of the newest 1,000',
      cell: ({ condition: { lag } }) =>
        lag.p50_ms === undefined ? '–' : `median ${duration(lag.p50_ms)}, 99\u00a0%: ${duration(lag.p99_ms)}`,
    },
    {
      title: 'Controller load',
      number: true,
      wide: true,
      value: (row) => row.condition.cost.calls_per_minute ?? null,
      hint: 'Load that following puts on the controller of the cluster',
      cell: (row) => h('span', { class: 'muted' }, costText(row.condition) || '–'),
    },
    ...(act ? [{ title: '', cell: act }] : []),
  ];
}

const mutedLine = (text) => (text ? h('div', { class: 'muted small' }, text) : null);

const problemLine = (text) => (text ? h('div', { class: 'problem' }, text) : null);

function stateCell({ state, since, message }) {
  const at = since === null ? '' : ` since ${wallOfUnix(since)}`;
  return [
    h('span', { class: 'state', 'data-state': state }, stateText(state), at ? h('span', { class: 'muted' }, at) : null),
    message ? h('div', { class: state === 'failing' ? 'error small' : 'muted small' }, codeText(message)) : null,
  ];
}

function ageCell(condition, elapsedMs) {
  const age = ageMs(condition, elapsedMs);
  if (age === null) return '–';
  return h(
    'span',
    { class: isOld(condition, elapsedMs) ? 'error' : null },
    duration(Math.max(1000, Math.round(age / 1000) * 1000)),
  );
}
