// Form that samples a workload from the ranges of a paper.

import { get, post } from '../core/api.js';
import { fill, h } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { number, plural } from '../util/format.js';

/** Variants on screen, by their names in the API. */
const VARIANTS = { calibrated: "Calibrated to the paper's figures", literal: 'As printed in the paper' };

/** onDone() is called after a trace was created. */
export async function generateForm(form, onDone) {
  const {
    profiles,
    variants,
    limits,
    horizon_slots: horizon,
  } = await new PagePart('form for generating a trace').persist(() => get('/api/workloads/'));
  const about = h('span', { class: 'help' });
  const profile = h(
    'select',
    { id: 'g-profile' },
    profiles.map((p) => h('option', { value: p.name }, p.title)),
  );
  const variant = h(
    'select',
    { id: 'g-variant' },
    variants.map((name) => h('option', { value: name }, VARIANTS[name] ?? name)),
  );
  const jobs = h('input', { id: 'g-jobs', type: 'number', min: 1, max: limits.jobs, value: 80, required: true });
  const servers = h('input', {
    id: 'g-servers',
    type: 'number',
    min: 2,
    max: limits.servers,
    value: 100,
    required: true,
  });
  const most = Number.MAX_SAFE_INTEGER;
  const seed = h('input', { id: 'g-seed', type: 'number', min: 0, max: most, value: 0, required: true });
  const end = h('input', {
    id: 'g-horizon',
    type: 'number',
    min: 1,
    max: limits.horizon_slots,
    placeholder: 'as in the paper',
  });
  const speed = h('textarea', { id: 'g-speed', rows: 3, spellcheck: false, placeholder: 'none' });
  const status = h('p', { class: 'wide', role: 'status' });
  const button = h('button', { class: 'primary' }, 'Generate');
  const sync = () => fill(about, profiles.find((p) => p.name === profile.value).about);
  profile.addEventListener('change', sync);
  sync();
  const field = (title, control, help) =>
    h(
      'div',
      { class: 'field' },
      h('label', { for: control.id }, title),
      control,
      help instanceof Node ? help : h('span', { class: 'help' }, help),
    );
  fill(
    form,
    field('Paper', profile, about),
    field('Ranges of jobs', variant, 'With the ranges printed in the OASiS and PD-ORS papers, most jobs cannot finish'),
    field('Jobs', jobs, `1 to ${number(limits.jobs, 0)}`),
    field('Servers', servers, `2 to ${number(limits.servers, 0)}`),
    field('Horizon, slots', end, `Empty: ${number(horizon, 0)}, or no horizon if the paper has none`),
    field('Seed', seed, 'Equal seeds give equal jobs'),
    h('div', { class: 'wide' }, measuredSpeed(speed)),
    h('div', { class: 'wide' }, button),
    status,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    fill(status, 'Generating …');
    try {
      const made = await post('/api/workloads/', {
        profile: profile.value,
        variant: variant.value,
        jobs: Number(jobs.value),
        servers: Number(servers.value),
        seed: Number(seed.value),
        horizon_slots: end.value === '' ? null : Number(end.value),
        speed: speed.value.trim() || null,
      });
      fill(
        status,
        `${made.trace.name}: ${plural(made.trace.job_count, 'job')} and ` +
          `${plural(made.cluster.server_count, 'server')}. `,
        h('a', { href: `/scenarios/?trace=${made.trace.id}&cluster=${made.cluster.id}` }, 'Use in a scenario'),
      );
      status.className = 'wide';
      onDone();
    } catch (error) {
      status.className = 'wide error';
      fill(status, error.message);
    }
    button.disabled = false;
  });
}

/** Field of a measured speed, folded: the content of its file, pasted or read from a file. */
function measuredSpeed(text) {
  const file = h('input', { class: 'unseen', type: 'file', id: 'g-speed-file', accept: '.json,application/json' });
  file.addEventListener('change', async () => {
    if (file.files.length) text.value = await file.files[0].text();
    file.value = '';
  });
  return h(
    'details',
    {},
    h('summary', {}, 'Measured speed'),
    h(
      'div',
      { class: 'field' },
      h('label', { for: text.id }, 'Content of a file that manage.py measure_speed wrote'),
      text,
      h('span', { class: 'choose' }, file, h('label', { class: 'button', for: file.id }, 'Choose file')),
      h('span', { class: 'help' }, 'Jobs get the measured speed; their duration with one worker stays the same'),
    ),
  );
}
