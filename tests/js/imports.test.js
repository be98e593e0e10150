// The arrows between the folders of static/js: no circle, and nothing imports a page.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join, dirname } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../static/js/', import.meta.url));
const MAX_DEPTH = 18; // dashboard/http/static_storage.py renames at most this many levels in one collectstatic

const imports = new Map(
  readdirSync(ROOT, { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .map((name) => {
      const found = readFileSync(join(ROOT, name), 'utf8').matchAll(/(?:from|import) '(\.[^']+)'/g);
      return [name, [...found].map(([, path]) => join(dirname(name), path)).filter((path) => !path.startsWith('..'))];
    }),
);

/** The longest chain of imports that begins with a module; a circle is an error that names it. */
function depthOf(name, known, chain = []) {
  assert.ok(!chain.includes(name), `a circle of imports: ${[...chain.slice(chain.indexOf(name)), name].join(' > ')}`);
  if (!known.has(name)) {
    known.set(name, 1 + Math.max(0, ...imports.get(name).map((other) => depthOf(other, known, [...chain, name]))));
  }
  return known.get(name);
}

test('there is no circle of imports, and no chain is too long to be renamed', () => {
  const known = new Map();
  for (const name of imports.keys()) assert.ok(depthOf(name, known) <= MAX_DEPTH, name);
});

const MAY_IMPORT = { core: ['core', 'util'], util: ['core', 'util'] };
test('core and util import no other folder, and no module imports a page', () => {
  for (const [name, others] of imports) {
    for (const other of others) {
      assert.ok(
        !other.startsWith('pages/') || other === 'pages/common.js' || name === other,
        `${name} imports ${other}`,
      );
      const allowed = MAY_IMPORT[dirname(name)];
      if (allowed) assert.ok(allowed.includes(dirname(other)), `${name} imports ${other}`);
    }
  }
});
