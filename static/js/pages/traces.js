// Traces: uploads in parts, which resume after a lost connection or a reload, and the list of imports with their
// progress.

import { tick } from '../core/first-steps.js';
import { confirmed } from '../ui/confirm.js';
import { get, post, remove } from '../core/api.js';
import { Refusal, logError } from '../core/client-errors.js';
import { $, debounce, fill, h, setText } from '../ui/dom.js';
import { bytes, number, percent, plural, sentence, wall } from '../util/format.js';
import { PagePart } from '../ui/failures/page-part.js';
import { DataTable, empty, shown } from '../ui/data-table.js';
import { followOverview } from '../ui/connection-badge.js';
import { Transfer, unfinished } from '../traces/upload-session.js';
import { useInScenario } from '../traces/use.js';
import { generateForm } from '../traces/workload-form.js';
import { teamChip } from '../settings/team-chip.js';

const ABOUT = 'A trace lists jobs, servers or both; runs simulate its jobs.';
const operator = document.body.dataset.role === 'operator';
const transfers = new Map(); // trace id -> {transfer, row} of this page
const listed = new PagePart('list of traces');
let traces = [];
let total = 0;

const columns = [
  {
    title: 'Trace',
    value: (trace) => trace.name,
    cell: (trace) => [h('a', { href: `/traces/${trace.id}/` }, trace.name), teamChip(trace)],
  },
  { title: 'State', value: (trace) => trace.status, cell: state },
  {
    title: 'Jobs',
    value: (trace) => trace.job_count,
    number: true,
    cell: (trace) => (trace.status === 'ready' ? number(trace.job_count, 0) : '–'),
  },
  {
    title: 'Servers',
    value: (trace) => trace.server_count,
    number: true,
    cell: (trace) => (trace.status === 'ready' ? number(trace.server_count, 0) : '–'),
  },
  { title: 'Format', value: (trace) => trace.format_title, cell: (trace) => trace.format_title || '–' },
  {
    title: 'Uploaded',
    value: (trace) => trace.created_at,
    cell: (trace) => h('span', { class: 'muted nowrap' }, wall(trace.created_at)),
  },
  { title: '', cell: (trace) => (operator ? act(trace) : '') },
];

const list = new DataTable($('#list'), { name: 'traces', columns });

function state(trace) {
  const mark = h('span', { class: 'state', 'data-state': trace.status }, trace.status);
  if (trace.status === 'uploading') return [mark, h('div', { class: 'muted small' }, standing(trace))];
  if (trace.status === 'parsing')
    return [
      mark,
      h('progress', { max: 1, value: trace.progress }),
      h('span', { class: 'small muted' }, percent(trace.progress)),
      trace.stalled ? h('div', { class: 'error small' }, sentence(trace.stalled)) : null,
    ];
  if (!trace.message || trace.message === trace.status) return mark;
  const kind = { failed: 'error small', scanned: 'muted small' }[trace.status] ?? 'muted small clamp';
  return [mark, h('div', { class: kind, title: trace.message }, trace.message)];
}

function standing(trace) {
  const [got, size] = ['received', 'size'].map((key) => trace.files.reduce((sum, file) => sum + file[key], 0));
  const own = transfers.get(trace.id)?.transfer;
  return (
    `received ${bytes(own ? Math.max(got, own.sent) : got)} of ` +
    `${bytes(size)}${own?.active ? '' : operator ? '; drop the same files again to resume' : ''}`
  );
}

function act(trace) {
  const open = ['uploading', 'queued', 'parsing', 'scanned'].includes(trace.status);
  const choose =
    trace.status === 'scanned' && h('a', { class: 'button', href: `/traces/${trace.id}/` }, 'Choose what to import');
  const run = trace.status === 'ready' && (trace.job_count || trace.server_count) && useInScenario(trace, '', fail);
  const end = h(
    'button',
    { type: 'button', class: 'quiet danger', onclick: () => leave(trace, open) },
    open ? 'Cancel' : 'Delete',
  );
  return h('span', { class: 'nowrap' }, choose || null, run || null, end);
}

async function leave(trace, open) {
  const { name, status } = trace;
  if (!open && !(await confirmed(`Delete trace ${name}?`, 'Delete'))) return;
  const whole = open && status === 'scanned'; // as on its own page: nothing else is kept of it
  if (whole && !(await confirmed(`Discard upload ${name}? Its files will be deleted.`, 'Discard upload'))) return;
  transfers.get(trace.id)?.transfer.cancel();
  await (open ? post(`/api/traces/${trace.id}/cancel/`) : remove(`/api/traces/${trace.id}/`)).catch(fail);
  await load();
}

async function load() {
  const page = await listed.load(get('/api/traces/?size=200'), load);
  if (page) loaded(page);
}

function loaded(page) {
  traces = page.results;
  total = page.count;
  paint();
}

function paint() {
  $('#count').textContent = shown(traces.length, total, total === 1 ? 'trace' : 'traces');
  list.paint(traces, {
    none: operator
      ? empty('No traces yet', `${ABOUT} Drop files above, or start with an example.`, [
          'Generate a trace',
          '#generate',
        ])
      : empty('No traces yet', `${ABOUT} Operators upload them.`, ['Show the overview', '/']),
  });
  for (const { row } of transfers.values()) row.paint();
}

function fail(error) {
  logError(error);
  const line = $('#upload-error') ?? fill($('#list'), h('p', { class: 'error' }));
  line.hidden = false;
  fill(line, error.message);
}

function wireUpload() {
  const drop = $('#drop');
  const input = $('#file');
  for (const name of ['dragenter', 'dragover'])
    addEventListener(name, (e) => (e.preventDefault(), drop.classList.add('over'))); // anywhere on the page
  addEventListener('dragleave', (e) => e.relatedTarget ?? drop.classList.remove('over'));
  addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    const folder = [...event.dataTransfer.items]
      .map((item) => item.webkitGetAsEntry?.())
      .find((entry) => entry?.isDirectory);
    if (folder) fail(new Refusal(`${folder.name} is a folder; drop its files, or a zip file of it.`));
    else take([...event.dataTransfer.files]);
  });
  input.addEventListener('change', () => {
    take([...input.files]);
    input.value = '';
  });
  $('#upload').addEventListener('submit', (event) => event.preventDefault());
}

/** Starts the upload of these files, or resumes one that was interrupted. */
async function take(files) {
  if (!files.length) return;
  $('#upload-error').hidden = true;
  const hollow = files.find((file) => file.size === 0);
  if (hollow) return fail(new Refusal(`${hollow.name} is empty.`));
  try {
    await load(); // progress of an earlier attempt
    if (listed.error) throw listed.error;
    const open = unfinished(
      files,
      traces.filter((trace) => !transfers.get(trace.id)?.transfer.active),
    );
    if (open && !changed(open)) return start(open.trace, open.files);
    const trace = await post('/api/traces/', {
      files: files.map(({ name, size }) => ({ name, size })),
      stage: 'scan',
      seed: 0,
    });
    tick('upload');
    remember(trace.id, files);
    start(trace, files);
  } catch (error) {
    fail(error);
  }
}

function start(trace, files) {
  const transfer = new Transfer(trace, files);
  const row = uploadRow(transfer);
  transfers.get(trace.id)?.row.element.remove();
  transfers.set(trace.id, { transfer, row });
  $('#uploads').prepend(row.element);
  transfer.addEventListener('change', () => {
    row.paint();
    if (['received', 'duplicate'].includes(transfer.state)) forget(trace.id);
  });
  go(transfer);
}

const go = (transfer) =>
  transfer
    .run()
    .then(() => load())
    .catch(fail);

/** One upload: its files, progress and speed; then the status of its trace. */
function uploadRow(transfer) {
  const { files, id } = transfer;
  const names =
    files.length > 3
      ? `${files
          .slice(0, 2)
          .map((f) => f.name)
          .join(', ')} and ${number(files.length - 2, 0)} more`
      : files.map((f) => f.name).join(', ');
  const bar = h('progress', { max: 1, value: 0, 'aria-label': `Upload progress of ${names}` });
  const text = h('span', { class: 'muted small' });
  const ends = h('span', { class: 'nowrap' });
  const element = h('div', { class: 'upload', 'data-upload': id }, h('strong', {}, names), ends, bar, text);
  const button = (title, action) => h('button', { type: 'button', class: 'quiet', onclick: action }, title);
  let acts = '';
  const show = (key, ...buttons) => {
    if (key !== acts) fill(ends, ...buttons);
    acts = key;
  };
  const away = button('Dismiss', () => (transfers.delete(id), element.remove()));
  const paint = () => {
    const { state: now, size, sent, rate, problem } = transfer;
    const trace = traces.find((t) => t.id === id);
    bar.hidden = now === 'duplicate' || now === 'cancelled';
    text.className = now === 'stopped' || trace?.status === 'failed' ? 'error small' : 'muted small';
    if (transfer.active || now === 'stopped') {
      bar.value = size ? sent / size : 0;
      const progress = `${bytes(sent)} of ${bytes(size)}, ${percent(size ? sent / size : 0)}`;
      setText(
        text,
        now === 'sending'
          ? `${progress}${rate === null ? '' : `, ${bytes(Math.round(rate))}/s`}; keep this page open`
          : `${progress}; ${problem}`,
      );
      const stop = () => button('Cancel', () => (transfer.cancel(), leave({ id }, true)));
      show(
        transfer.resumable ? 'resumable' : 'going',
        transfer.resumable ? button('Resume', () => go(transfer)) : null,
        stop(),
      );
    } else if (now === 'duplicate') {
      const { id: other, detail } = transfer.earlier;
      setText(text, detail);
      show('duplicate', h('a', { class: 'button', href: `/traces/${other}/` }, `Open trace ${other}`), away);
    } else if (now === 'cancelled' || trace?.status === 'cancelled') {
      setText(text, 'cancelled');
      show('over', away);
    } else arrived(trace ?? transfer.trace);
  };
  function arrived(trace) {
    bar.hidden = !['queued', 'parsing'].includes(trace.status);
    bar.value = trace.progress;
    const texts = {
      queued: 'received; waiting for a worker',
      parsing: `parsing, ${percent(trace.progress)}${trace.stalled ? `; ${trace.stalled}` : ''}`,
      scanned: trace.message,
      ready: `imported: ${plural(trace.job_count, 'job')}`,
    };
    setText(text, texts[trace.status] ?? trace.message);
    if (trace.status === 'scanned')
      show('scanned', h('a', { class: 'button primary', href: `/traces/${id}/` }, 'Choose what to import'));
    else if (['queued', 'parsing'].includes(trace.status))
      show(
        'reading',
        button('Cancel', () => leave({ id }, true)),
      );
    else show('over', away);
  }
  paint();
  return { element, paint };
}

/** Modification time of each file: a file that has changed since is not taken for the rest of an interrupted upload. */
function remember(id, files) {
  try {
    localStorage.setItem(`upload-${id}`, JSON.stringify(files.map((file) => file.lastModified)));
  } catch {
    // Without storage, name and size have to identify a file.
  }
}

function changed({ trace, files }) {
  try {
    const kept = localStorage.getItem(`upload-${trace.id}`);
    return kept !== null && kept !== JSON.stringify(files.map((file) => file.lastModified));
  } catch {
    return false;
  }
}

function forget(id) {
  try {
    localStorage.removeItem(`upload-${id}`);
  } catch {
    // Nothing was stored.
  }
}

const reload = debounce(load, 200);
followOverview((message) => {
  if (message.type !== 'trace') return;
  const known = traces.find((trace) => trace.id === message.trace.id);
  if (listed.error || !known || known.status !== message.trace.status) reload();
  if (known) Object.assign(known, message.trace);
  paint();
}, reload);
if (operator) wireUpload();
listed
  .first($('#list'), () => get('/api/traces/?size=200'))
  .then(loaded)
  .catch((error) => listed.failed(error));
if (operator)
  generateForm($('#generate'), load).catch((error) => {
    logError(error);
    fill($('#generate'), h('p', { class: 'error', role: 'alert' }, error.message));
  });
