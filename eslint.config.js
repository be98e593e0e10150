// What ESLint says about the browser's modules, their tests, the pages of benchmarks, and this file.
// Layout is Prettier's (`npm run format`), types are tsc's.

import js from '@eslint/js';
import globals from 'globals';

export default [
  {
    files: ['static/js/**/*.js', 'benchmarks/pages/*.js'],
    ...js.configs.recommended,
    languageOptions: { globals: globals.browser },
  },
  {
    files: ['tests/js/**/*.js', '*.js'],
    ...js.configs.recommended,
    languageOptions: { globals: { ...globals.node, document: 'readonly', location: 'readonly' } }, // of tests/js/dom.js
  },
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'no-implicit-globals': 'error',
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-arrow-callback': 'error',
      'prefer-const': 'error',
    },
  },
];
