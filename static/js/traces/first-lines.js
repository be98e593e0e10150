// Upload of an unknown format: its first lines, and what the nearest formats miss.

import { h } from '../ui/dom.js';

/** One card for each file: its lines, and beside them what fits or nearly fits. known: titles of all formats. */
export function firstLines(files, known) {
  return files.map(({ file, lines, fits, nearest }) =>
    h(
      'section',
      { class: 'card' },
      h('header', {}, h('h2', {}, file)),
      h(
        'div',
        { class: 'columns' },
        h(
          'div',
          {},
          h('p', { class: 'muted small' }, 'First lines'),
          h(
            'ol',
            { class: 'lines scroll', tabindex: 0, 'aria-label': `First lines of ${file}` },
            lines.map((line) => h('li', {}, h('code', {}, line))),
          ),
        ),
        h('div', {}, matching(fits, nearest, known)),
      ),
    ),
  );
}

function matching(fits, nearest, known) {
  const caption = (text) => h('p', { class: 'muted small' }, text);
  if (fits.length) return [caption('Matching formats'), list(fits, ({ title }) => title)];
  if (nearest.length)
    return [
      caption('Most similar formats, with what is missing'),
      list(nearest, ({ title, why }) => [h('strong', {}, title), h('span', { class: 'why' }, why)]),
    ];
  const titles = [...known].sort((a, b) => a.localeCompare(b, 'en'));
  return [
    h('p', {}, 'The file resembles no known format.'),
    h(
      'details',
      {},
      h('summary', {}, `Known formats (${known.length})`),
      list(titles, (title) => title),
    ),
  ];
}

function list(items, say) {
  return h(
    'ul',
    { class: 'plain' },
    items.map((item) => h('li', {}, say(item))),
  );
}
