// Opens the page of a run on answers of the API, and prints as JSON what its schedule and the first row of its table of
// jobs show, and which panels failed.
// Usage: node draw-run.js ANSWERS.json, which holds {run, answers: {path: {status, body} or {base64}}}.

import { readFileSync } from 'node:fs';

import { openPage, serveRecorded, until } from './dom.js';

const $ = (selector) => document.querySelector(selector);

const { run, answers } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const plain = (path) => path.split('?')[0];
const given = new Map(Object.entries(answers).map(([path, answer]) => [plain(path), answer]));

function answered(_, path) {
  const { status = 200, body, base64 } = given.get(plain(path)) ?? { status: 404, body: { detail: `no ${path}` } };
  return new Response(base64 ? Buffer.from(base64, 'base64') : JSON.stringify(body), { status });
}

openPage(`/runs/${run}/`, 'run.html', { 'run.pk': String(run), 'run.scenario.name': 'new', 'run.status': 'finished' });
serveRecorded([[`/api/runs/${run}/`, answered]]);
await import('../../static/js/pages/run.js');
await until(() => globalThis.twin?.store.finished && $('#jobs tbody tr'), 'the jobs are shown');
const { gantt, view } = globalThis.twin;
const [drawn, { paint }] = [new Set(), gantt];
gantt.paint = (job, colors) => {
  drawn.add(job);
  return paint(job, colors);
};
view.fit();
gantt.setOrder('jobs');
await until(() => drawn.size > 0 && gantt.frame.visible > 0, 'the schedule is drawn');
console.log(
  JSON.stringify({
    jobs: [...drawn].sort((a, b) => a - b),
    rows: gantt.frame.views.length,
    legend: $('#gantt-legend')?.textContent ?? '',
    table: ['#jobs thead tr', '#jobs tbody tr'].map((row) =>
      [...$(row).children].map((cell) => cell.textContent.trim()),
    ),
    failed: [...document.querySelectorAll('.broken')].map((note) => note.textContent),
  }),
);
process.exit(0);
