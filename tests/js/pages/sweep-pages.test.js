// The pages of sweeps on recorded answers of the API: the form, the grid, and what they say when something fails.

import assert from 'node:assert/strict';
import test from 'node:test';

import { RUNS, needsPage, open, recorded, sockets, until } from '../dom.js';
import { valuesText } from '../../../static/js/scenarios/sweep-axes.js';
import { $, $$, broken, change, failures, refusal, text, visit } from '../visit.js';

test('sweeps: the list, and a form that counts its runs and refuses values that are none', needsPage, async () => {
  const { window } = await visit('sweeps', '/sweeps/', {});
  await until(() => $('#list tbody tr') && $('#s-what-1 option'), 'list and form are shown');
  assert.ok($('#s-values-2').closest('.field').hidden, 'no second axis, no values of one');
  const choice = [...$('#s-what-1').options].find(({ value }) => value === 'p:price_mode');
  const number = [...$('#s-what-1').options].find(({ value }) => value === 'p:floor_scale');
  change(window, '#s-what-1', choice.value, 'input');
  assert.equal(text('#s-values-1-help'), 'Such as marginal, literal, provable');
  assert.match(text('#new [role=status]'), /Enter values such as marginal, literal, provable\./);
  change(window, '#s-what-1', number.value, 'input');
  assert.match(text('#s-values-1-help'), /^Such as 1, 2, 5 or/);
  change(window, '#s-values-1', '1, 2, 5', 'input');
  assert.match(text('#new [role=status]'), /3 runs in total/);
  change(window, '#s-seeds', '0..4 by 1', 'input');
  assert.match(text('#new [role=status]'), /15 runs in total/);
  change(window, '#s-values-1', '1..5 by 0', 'input');
  assert.doesNotMatch(text('#new [role=status]'), /in total/);
  $('#new').dispatchEvent(new window.Event('submit', { bubbles: true, cancelable: true }));
  await until(() => !$('#new [role=alert]').hidden, 'it is refused');
  change(window, '#s-values-1', '1, 2', 'input');
  assert.ok($('#new [role=alert]').hidden, 'the refusal was about other values');
});

test('of an axis with many values, the first two and the last are listed', () => {
  const ofOne = (count) => valuesText([...Array(count).keys()], String);
  assert.equal(ofOne(4), '0, 1, 2, 3');
  assert.equal(ofOne(399), '0, 1, … 398 (399 values)');
});

test('the list of sweeps follows their progress', needsPage, async () => {
  const page = await recorded('/api/sweeps/?size=100').json();
  let finished = 0;
  const answer = () => ({ ...page, results: [{ ...page.results[0], finished, total: 72 }] });
  await visit('sweeps', '/sweeps/', {}, [['/api/sweeps/?', answer]]);
  await until(() => /0 of 72/.test(text('#list')), 'the list is shown');
  finished = 72;
  sockets.at(-1).hear({ type: 'status', id: 900, status: 'finished' });
  await until(() => /72 of 72/.test(text('#list')), 'the progress is shown');
});

test('a sweep that was cancelled draws what it has, and claims nothing of the rest', needsPage, async () => {
  const answer = await recorded(`/api/sweeps/${RUNS.sweep}/points/`).json();
  const axes = [0, 1].map(() => ({ ...answer.axes[0], values: [1, 2] }));
  const metric = answer.figures[0];
  const point = (place, seed, value) => ({
    place,
    seed,
    run: null,
    status: value === null ? 'cancelled' : 'finished',
    figures: { [metric]: value },
  });
  const points = [point([0, 0], 0, 5), point([0, 0], 1, 5), point([1, 0], 0, 6), point([1, 0], 1, null)];
  points.push(point([0, 1], 0, null), point([1, 1], 0, null)); // nothing of the second curve
  const partial = { ...answer, axes, titles: ['a', 'b'], points, seeds: [0, 1], total: 6, finished: 3, active: 0 };
  await visit('sweep', `/sweeps/${RUNS.sweep}/?figure=${metric}`, { 'sweep.pk': String(RUNS.sweep) }, [
    [`/api/sweeps/${RUNS.sweep}/points/`, partial],
  ]);
  await until(() => $('.bands path'), 'the curves are drawn');
  const drawn = $$('.bands path').map((path) => path.getAttribute('d'));
  assert.equal(drawn.length, 2, 'band and curve of the first value');
  for (const d of drawn) assert.match(d, /^M/);
  assert.match(text('#curves'), /No confidence interval yet: not all runs have finished/);
  assert.equal(text('#connection'), 'ended, 3 of 6 runs finished');
});

test('a sweep: its grid, its points, and another metric', needsPage, async () => {
  const { window } = await visit('sweep', `/sweeps/${RUNS.sweep}/`, {
    'sweep.pk': String(RUNS.sweep),
    sweep: String(RUNS.sweep),
  });
  await until(() => $$('#points tbody tr').length === 4, 'its points are listed');
  assert.match(text('#going'), /of 4 runs finished/);
  const other = [...$('#metric').options].at(-1).value;
  change(window, '#metric', other);
  assert.match(location.search, new RegExp(`figure=${other}`));
});

test(
  'panels of a sweep that fail say so in their places and to the log, and the others are shown',
  needsPage,
  async () => {
    const path = `/api/sweeps/${RUNS.sweep}/points/`;
    const answer = await recorded(path).json();
    const { asked } = await visit('sweep', `/sweeps/${RUNS.sweep}/`, { 'sweep.pk': String(RUNS.sweep) }, [
      [
        path,
        () => {
          broken('#map');
          return { ...answer, speeds: 'Speeds differ.', seeds: null };
        },
      ],
    ]);
    await until(() => $$('#points tbody tr').length === 4, 'its points are listed');
    assert.deepEqual(failures()[1], '#map is broken');
    assert.equal($('#map').nextElementSibling.className, 'broken error', 'in its place');
    assert.ok($('#about').hasAttribute('data-broken'), 'the seeds are counted there');
    assert.match(text('#going'), /of 4 runs finished/);
    assert.deepEqual([text('.speeds'), $('#csv').hasAttribute('href')], ['Speeds differ.', true]);
    await until(
      () => asked.some(([, to, body]) => to === '/api/client-errors/' && /#map/.test(body.message)),
      'the log',
    );
  },
);

test('sweeps: a second click starts no second sweep', needsPage, async () => {
  const posts = [];
  let finish;
  const { window } = await visit('sweeps', '/sweeps/', {}, [
    [
      '/api/sweeps/',
      (body, path, method) => {
        if (method !== 'POST') return recorded(path);
        posts.push(body);
        return new Promise((done) => (finish = done));
      },
    ],
  ]);
  await until(() => $('#start'), 'the form is shown');
  change(window, '#s-what-1', 'p:floor_scale', 'input');
  change(window, '#s-values-1', '1, 2', 'input');
  $('#start').click();
  await until(() => posts.length, 'a sweep is asked for');
  $('#start').click();
  finish(refusal(400, 'The disk is full.'));
  await until(() => text('#new [role=alert]') === 'The disk is full.', 'the refusal is shown');
  assert.equal(posts.length, 1);
  assert.equal($('#start').disabled, false);
});

test('the metrics of a sweep follow its runs, and the chosen one stays', needsPage, async () => {
  const path = `/api/sweeps/${RUNS.sweep}/points/`;
  const names = { 'sweep.pk': String(RUNS.sweep), sweep: String(RUNS.sweep) };
  const whole = await recorded(path).json();
  assert.ok(whole.figures.length > 2);
  const [first, second, third] = whole.figures;
  const of = (figures) => ({
    ...whole,
    figures,
    active: 1,
    points: whole.points.map((point) => ({
      ...point,
      figures: Object.fromEntries(figures.slice(1).map((name) => [name, 1])),
    })),
  });
  let figures = [first, second];
  const { window } = await visit('sweep', `/sweeps/${RUNS.sweep}/`, names, [[path, () => Response.json(of(figures))]]);
  const offered = () => [...$('#metric').options].map(({ value }) => value);
  await until(() => offered().join() === figures.join(), 'the metrics so far');
  assert.equal($('#metric').value, second, 'the first one with values');
  figures = [second, third];
  await until(() => offered().join() === figures.join(), 'the metrics of ended runs');
  assert.equal($('#metric').value, third, 'what is shown is what is chosen');
  change(window, '#metric', second);
  figures = whole.figures;
  await until(() => offered().join() === figures.join(), 'all metrics');
  assert.equal($('#metric').value, second);
});

test('a finished sweep that somebody else deletes says so, and offers nothing any more', needsPage, async () => {
  const path = `/api/sweeps/${RUNS.sweep}/points/`;
  const names = { 'sweep.pk': String(RUNS.sweep), sweep: String(RUNS.sweep) };
  const whole = { ...(await recorded(path).json()), finished: 4, total: 4, active: 0 };
  let gone = false;
  const answer = () => (gone ? refusal(404, 'Sweep 1 was deleted by ann.') : Response.json(whole));
  await visit('sweep', `/sweeps/${RUNS.sweep}/`, names, [[path, answer]]);
  await until(() => text('#connection') === 'complete', 'it is shown');
  gone = true;
  sockets.at(-1).hear({ type: 'deleted', id: whole.points[0].run, message: '' });
  await until(() => text('#connection') === 'deleted', 'the badge says so');
  assert.equal(text('#failed'), 'Sweep 1 was deleted by ann. This page shows the data that it had already loaded.');
  assert.deepEqual([$('#csv').hidden, $('#resume').hidden], [true, true]);
  assert.equal($$('#points tbody tr').length, 4, 'what was loaded stays');
});

test('a sweep over words says whether its seeds give equal results, and aligns its words left', needsPage, async () => {
  const { window } = open();
  const [{ paintCurves }, { Points }] = await Promise.all([
    import('../../../static/js/sweeps/grid.js'),
    import('../../../static/js/sweeps/points.js'),
  ]);
  const box = window.document.createElement('div');
  const axis = { title: 'Order', values: ['fifo', 'srtf'], text: String };
  const shownWith = (half) => ({ axes: [axis], cell: () => ({ mean: 1, half }), numeric: false });
  paintCurves(box, { seeds: [1, 2], finished: 4, total: 4 }, shownWith(0));
  assert.equal(box.textContent, 'All seeds give equal results: the runs do not depend on the seed.');
  paintCurves(box, { seeds: [1, 2], finished: 4, total: 4 }, shownWith(0.5));
  assert.ok(box.hidden, 'the cells have the intervals');
  const section = window.document.createElement('section');
  section.innerHTML = '<span id="count"></span><div id="points"></div><div id="points-pager"></div>';
  const metric = { key: 'utility', title: 'Total utility' };
  new Points(section).paint([{ place: [0], seed: 1, figures: {} }], { metric, axes: [axis], text: String });
  const heads = [...section.querySelectorAll('th')].map((th) => [th.textContent, th.classList.contains('number')]);
  assert.deepEqual(heads.slice(2, 4), [
    ['Order', false],
    ['Seed', true],
  ]);
});
