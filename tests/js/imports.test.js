// Imports of the browser's modules: each names a file that exists and something that it exports.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

const ROOT = new URL('../../static/js', import.meta.url).pathname;
const ts = await import('typescript').then(
  (module) => module.default,
  () => null,
);
const skip = ts ? false : "npm's packages are not installed";

/** Faults of the imports, as 'file: what is missing'. sources: {file: text} of files that are not on disk. */
function faults(files, sources = {}) {
  const options = { allowJs: true, noLib: true, types: [], module: ts.ModuleKind.ESNext };
  options.moduleResolution = ts.ModuleResolutionKind.Bundler;
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (name) => name in sources || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name in sources
      ? ts.createSourceFile(name, sources[name], ts.ScriptTarget.ES2024, true)
      : getSourceFile(name, ...rest);
  const program = ts.createProgram(files, options, host);
  const checker = program.getTypeChecker();
  const found = [];
  for (const file of files) {
    for (const statement of program.getSourceFile(file).statements) {
      if (!statement.moduleSpecifier) continue;
      const module = checker.getSymbolAtLocation(statement.moduleSpecifier);
      const known = module ? checker.getExportsOfModule(module).map(({ name }) => name) : null;
      if (!known) found.push(`${file}: ${statement.moduleSpecifier.text}`);
      for (const name of known ? named(statement) : []) if (!known.includes(name)) found.push(`${file}: ${name}`);
    }
  }
  return found;
}

/** Names that an import or an export takes from another module. */
function named({ importClause, exportClause }) {
  const elements = (importClause?.namedBindings ?? exportClause)?.elements ?? []; // none of `* as name`
  const names = elements.map(({ propertyName, name }) => (propertyName ?? name).text);
  return importClause?.name ? ['default', ...names] : names;
}

test('every import names what a module exports', { skip }, () => {
  const names = readdirSync(ROOT, { recursive: true }).filter((name) => name.endsWith('.js'));
  assert.ok(names.length > 100);
  assert.deepEqual(faults(names.map((name) => join(ROOT, name))), []);
});

test('an import of something that is not there is found', { skip }, () => {
  const [a, b] = ['made-up-a.js', 'made-up-b.js'].map((name) => join(ROOT, name));
  const text = `
    import { url, query as other } from './made-up-b.js';
    import first, * as all from './made-up-b.js';
    import './made-up-c.js';
    export { none } from './made-up-b.js';`;
  const found = faults([a, b], { [a]: text, [b]: 'export const query = 1;' });
  assert.deepEqual(
    found.map((fault) => fault.replace(`${a}: `, '')),
    ['url', 'default', './made-up-c.js', 'none'],
  );
});
