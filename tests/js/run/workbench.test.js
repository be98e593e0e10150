// The workbench: where panels move to, what is kept, and what a picture of a panel has beside its chart.

import assert from 'node:assert/strict';
import test from 'node:test';

import { fitted, moved, placed, Workbench } from '../../../static/js/run/workbench.js';
import {
  colorsIn,
  legendOf,
  linesOf,
  notesOf,
  sourceText,
  titleOf,
  wrapped,
} from '../../../static/js/ui/pictures/png-button.js';
import { needsPage, open } from '../dom.js';

const NOW = { main: ['a', 'b', 'c'], side: ['d', 'e'], hidden: [] };

test('a panel moves up, down, to the other column, and before another one', () => {
  assert.deepEqual(moved(NOW, 'b', -1).main, ['b', 'a', 'c']);
  assert.deepEqual(moved(NOW, 'b', 1).main, ['a', 'c', 'b']);
  assert.deepEqual(moved({ ...NOW, hidden: ['b'] }, 'c', -1).main, ['c', 'a', 'b'], 'a hidden one is passed over');
  assert.deepEqual(moved(NOW, 'a', 0), { main: ['b', 'c'], side: ['d', 'e', 'a'], hidden: [] });
  assert.deepEqual(placed(NOW, 'e', 'main', 'b'), { main: ['a', 'e', 'b', 'c'], side: ['d'], hidden: [] });
  assert.deepEqual(placed(NOW, 'a', 'main', null).main, ['b', 'c', 'a']);
  assert.equal(placed(NOW, 'a', 'main', 'a'), NOW);
});

test('a kept arrangement loses panels that are gone, and new panels come at their usual place', () => {
  const kept = { main: ['c', 'gone', 'a'], side: ['b', 'b'], hidden: ['a', 'gone'] };
  assert.deepEqual(fitted(kept, NOW), { main: ['c', 'a'], side: ['d', 'e', 'b'], hidden: ['a'] });
  for (const broken of [null, 3, { main: 'a' }, []]) assert.deepEqual(fitted(broken, NOW), NOW);
});

const PANELS = `<button id="panels">Panels</button><div id="bench">
  <div data-column="main"><section id="panel-a"><header><h2>A</h2></header></section>
    <section id="panel-b"><header><h2>B</h2><div class="actions"></div></header></section></div>
  <div data-column="side"><dialog></dialog><section id="panel-c"><header><h2>C</h2></header></section></div></div>`;
const $ = (selector) => document.querySelector(selector);
const ids = (name) => [...document.querySelectorAll(`[data-column="${name}"] > section`)].map(({ id }) => id);
const bench = (more) => new Workbench($('#bench'), $('#panels'), { ...more, actions: () => [['Print', () => {}]] });
const choose = (panel, text) => {
  $(`#${panel} .panel-menu`).click();
  [...document.querySelectorAll('#panel-menu button')].find((one) => one.textContent === text).click();
};

test('the menu of a panel moves, hides and enlarges it, and the page keeps that for the account', needsPage, () => {
  const window = open('/', PANELS);
  window.happyDOM.setViewport({ width: 1920 });
  const kept = [];
  const made = bench({ keep: (arrangement) => kept.push(structuredClone(arrangement)) });
  choose('panel-a', 'Move down');
  assert.deepEqual(ids('main'), ['panel-b', 'panel-a']);
  choose('panel-c', 'Move to the main column');
  assert.deepEqual([ids('main'), ids('side')], [['panel-b', 'panel-a', 'panel-c'], []]);
  choose('panel-b', 'Hide');
  assert.ok($('#panel-b').classList.contains('hidden-panel'));
  choose('panel-a', 'Enlarge');
  assert.ok($('#panel-a').classList.contains('enlarged'));
  window.dispatchEvent(new window.KeyboardEvent('keydown', { key: 'Escape' }));
  assert.equal(made.enlarged, null);
  choose('panel-a', 'Enlarge');
  $('#panel-a .panel-close').click();
  assert.equal(made.enlarged, null, 'without a keyboard, a button restores it');
  assert.ok(!$('#panel-a').classList.contains('enlarged'));
  assert.equal(document.activeElement, $('#panel-a .panel-menu'));
  assert.equal(kept.length, 3, 'each change is stored');
  open('/', PANELS);
  bench({ kept: JSON.parse(JSON.stringify(kept.at(-1))) });
  assert.deepEqual(ids('main'), ['panel-b', 'panel-a', 'panel-c']);
  assert.ok($('#panel-b').classList.contains('hidden-panel'));
});

test('a narrow window has no side column to move to, and panels of other runs are not listed', needsPage, () => {
  const window = open('/', PANELS);
  window.happyDOM.setViewport({ width: 1280 });
  $('#panel-b').hidden = true;
  bench({});
  $('#panel-a .panel-menu').click();
  const offered = [...document.querySelectorAll('#panel-menu button')].map((one) => one.textContent);
  assert.ok(!offered.some((one) => /column/.test(one)), offered.join());
  assert.ok(!offered.includes('Move down'), 'there is none below it');
  $('#panel-list').dispatchEvent(Object.assign(new window.Event('beforetoggle'), { newState: 'open' }));
  assert.deepEqual(
    [...document.querySelectorAll('#panel-list label')].map((one) => one.textContent),
    ['A', 'C'],
  );
});

test('a picture of a schedule has the scale of its shades, and no hints', needsPage, () => {
  const scale = '<span class="color-bar">0 %<i class="ramp"></i>100 %</span>';
  const note = 'Rows are too short<span class="hint">; press + for taller rows</span>.';
  open('/', `<section><p class="note"><span>${note}</span>${scale}</p></section>`);
  assert.deepEqual(
    legendOf($('section')).map(([mark, text]) => [mark.className, text]),
    [['ramp', '0 % to 100 %']],
  );
  assert.deepEqual(notesOf($('section')), ['Rows are too short.']);
  const [line] = linesOf(legendOf($('section')), 600, (text) => text.length * 5);
  assert.equal(line.length, 1);
  assert.deepEqual(colorsIn('linear-gradient(90deg, rgb(1, 2, 3), #0a0b0c)'), ['rgb(1, 2, 3)', '#0a0b0c']);
  $('.color-bar').hidden = true;
  assert.deepEqual(legendOf($('section')), []);
});

test('the title of a picture names the chart of a panel that shows more than a chart', needsPage, () => {
  open('/runs/3/', '<section><h2>Metrics</h2><h3 class="plot-title">Distribution of the JCT</h3></section>');
  assert.equal(titleOf($('section')), 'Metrics: Distribution of the JCT');
  $('h3').remove();
  assert.equal(titleOf($('section')), 'Metrics');
});

test('a picture has the legend in lines that fit, and names its source', needsPage, () => {
  open('/runs/3/', '<section><div class="legend"></div></section>');
  document.title = 'Demo · run 3 · Edge-cloud twin';
  $('.legend').innerHTML =
    '<button class="key" aria-pressed="true"><i style="border-color: red"></i><span>GPU</span><b>3</b></button>' +
    '<button class="key" aria-pressed="false"><i></i><span>CPU</span><b>4</b></button>';
  assert.deepEqual(
    legendOf($('section')).map(([mark, text]) => [mark.style.borderColor, text]),
    [['red', 'GPU 3']],
  );
  $('section').innerHTML = '<p class="note"><span><i class="pale"></i>planned</span><span>Drag to pan</span></p>';
  assert.deepEqual(
    legendOf($('section')).map(([mark, text]) => [mark.className, text]),
    [['pale', 'planned']],
  );
  $('section').innerHTML =
    '<p class="note"><span><span class="gantt-key"><i></i>worker</span></span><span hidden>gone</span>' +
    '<span>2 servers</span><span>Rows 1 to 54 of 82 are in view.</span><span class="by-mouse">Drag to pan</span></p>' +
    '<p class="note"><span>Mean price. <span class="hint by-mouse">Click</span></span></p><p class="note">Plain.</p>';
  const notes = ['2 servers', 'Rows 1 to 54 of 82 are in view.', 'Mean price.', 'Plain.'];
  assert.deepEqual(notesOf($('section')), notes, 'rows that are left out are stated in the picture, too');
  assert.deepEqual(
    wrapped('one two three', 7, (text) => text.length),
    ['one two', 'three'],
  );
  assert.match(sourceText('time shown 01:00'), /^Source: Demo, run 3; time shown 01:00; http/);
  const entries = ['one', 'two', 'three'].map((text) => [null, text]);
  const lines = linesOf(entries, 60, (text) => text.length * 5);
  assert.deepEqual(
    lines.map((line) => line.map(({ text, x }) => [text, x])),
    [[['one', 0]], [['two', 0]], [['three', 0]]],
  );
  assert.equal(linesOf(entries, 600, (text) => text.length * 5).length, 1);
});
