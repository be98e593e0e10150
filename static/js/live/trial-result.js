// Result of a connection test: findings with their remedies, and the site of each node.

import { copyText } from '../ui/labels/copy-text.js';
import { fill, h } from '../ui/dom.js';
import { shown, table } from '../ui/data-table.js';
import { capital, duration, number, plural } from '../util/format.js';
import { bySite, remedyParts } from './condition.js';

const MAX_ROWS = 100; // nodes in the table

/** Fills the box with the result of a test; '' as result empties it. */
export function paintTrial(box, found) {
  if (!found) return fill(box);
  const heading = found.well ? 'The cluster can be followed.' : 'The cluster cannot be followed yet.';
  const answered = `Answered in ${duration(found.seconds * 1000)}`;
  const preview = found.nodes.length ? h('div', { class: 'preview' }) : null;
  if (preview) paintSites(preview, found);
  return fill(
    box,
    h('h2', {}, heading),
    found.error ? h('p', { class: 'error', role: 'alert' }, sentence(found.error)) : null,
    found.error && !found.findings.length ? null : h('p', { class: 'muted small' }, about(found), answered),
    h('ul', { class: 'findings' }, found.findings.map(finding)),
    preview,
  );
}

/** The site of each node. */
export function paintSites(box, { nodes, total_nodes: total }) {
  const sites = bySite(nodes);
  fill(
    box,
    h('h2', {}, 'Sites'),
    table(
      [
        { title: 'Site', cell: ({ site }) => site },
        { title: 'Nodes', number: true, cell: (row) => number(row.nodes, 0) },
        { title: 'GPUs', number: true, cell: (row) => number(row.gpus, 0) },
        { title: 'CPUs', number: true, cell: (row) => number(row.cpus, 0) },
      ],
      sites,
    ),
    sites.some((site) => !site.nodes)
      ? h('p', { class: 'muted small' }, `The rule puts every node ${sites[0].nodes ? 'at the edge' : 'in the cloud'}.`)
      : null,
    h(
      'details',
      {},
      h('summary', {}, shown(Math.min(nodes.length, MAX_ROWS), total, total === 1 ? 'node' : 'nodes')),
      h(
        'div',
        { class: 'scroll' },
        table(
          [
            { title: 'Node', cell: (node) => node.name },
            { title: 'Site', cell: (node) => node.site },
            { title: 'State', cell: (node) => node.state },
            { title: 'GPUs', number: true, cell: (node) => number(node.gpus, 0) },
            { title: 'CPUs', number: true, cell: (node) => number(node.cpus, 0) },
            { title: 'Queues', wide: true, cell: (node) => node.queues.join(', ') || '–' },
            { title: 'Labels', wide: true, cell: (node) => labels(node.labels) },
          ],
          nodes.slice(0, MAX_ROWS),
        ),
      ),
    ),
  );
}

function about({ version, clock_offset_ms: offset, jobs }) {
  const parts = [];
  if (version) parts.push(`Version ${version}`);
  if (offset) parts.push(`clock ${offset > 0 ? 'ahead' : 'behind'} by ${duration(Math.abs(offset))}`);
  const open = (jobs.running ?? 0) + (jobs.waiting ?? 0) + (jobs.held ?? 0);
  if (Object.keys(jobs).length) parts.push(`${plural(open, 'job')} running or waiting`);
  return parts.length ? `${parts.join(', ')}. ` : '';
}

function finding({ subject, well, message, remedy, needed }) {
  const mark = well ? ['good', '✓', 'well'] : needed ? ['bad', '✗', 'missing'] : ['warn', '!', 'limited'];
  return h(
    'li',
    {},
    h('span', { class: `finding ${mark[0]}`, 'aria-label': mark[2], role: 'img' }, mark[1]),
    h('div', {}, h('strong', {}, subject), ` ${message}`, remedy && !well ? remedyLine(remedy) : null),
  );
}

/** The sentence with its commands, followed by a button for each of them: a button inside would break it. */
function remedyLine(remedy) {
  return h('div', { class: 'small remedy' }, withCommands(remedy));
}

/** The children of an element that shows a sentence with commands: the sentence, and a button for each command. */
export function withCommands(sentence) {
  const parts = remedyParts(sentence);
  const commands = parts.flatMap(({ code }) => (code ? [code] : []));
  return [
    parts.map(({ text, code }) => (code ? h('code', {}, code) : text)),
    commands.map((code) => [' ', copyButton(code, commands.length > 1 ? `Copy ${code.split(' ')[0]}` : 'Copy')]),
  ];
}

/** A command with a button that copies it. */
export function copyable(code) {
  return h('span', { class: 'command' }, h('code', {}, code), copyButton(code, 'Copy'));
}

function copyButton(code, title) {
  const copy = ({ currentTarget }) => copyText(code, currentTarget);
  return h('button', { type: 'button', class: 'quiet', 'aria-label': `Copy ${code}`, onclick: copy }, title);
}

function labels(all) {
  const words = Object.entries(all).map(([key, value]) => `${key}=${value}`);
  return words.length
    ? h('span', { title: words.join('\n') }, words.slice(0, 3).join(', '), words.length > 3 ? ' …' : '')
    : '–';
}

function sentence(text) {
  return `${capital(text)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
