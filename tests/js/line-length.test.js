// Lines of at most 120 characters in static/js and tests/js.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

const ROOT = new URL('../../', import.meta.url);
const MAX_LENGTH = 120;

function longLines(folder) {
  const files = readdirSync(new URL(folder, ROOT), { recursive: true }).filter((name) => name.endsWith('.js'));
  return files.flatMap((name) => {
    const lines = readFileSync(new URL(folder + name, ROOT), 'utf8').split('\n');
    return lines.flatMap((line, i) => (line.length > MAX_LENGTH ? [`${folder}${name}:${i + 1}`] : []));
  });
}

for (const folder of ['static/js/', 'tests/js/']) {
  test(`no line of ${folder} is longer than ${MAX_LENGTH} characters`, () => assert.deepEqual(longLines(folder), []));
}
