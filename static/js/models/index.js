// The execution models by name. A run states the model of each of its phases; pages use the model's interface without
// branches.

import { JOB_STATES, MEANING } from '../core/job-state.js';
import { whileIn } from '../core/phases.js';
import { colocation } from './colocation.js';
import { observed } from './observed.js';
import { slotted } from './slotted.js';
import { typedWorkers } from './typed-workers.js';

/**
 * An execution model: everything on the pages that differs between models.
 *
 * @typedef {object} ExecutionModel
 * @property {string} name as files and the API state it
 * @property {string[]} states that jobs can be in
 * @property {Record<string, {word: string, meaning: string}>} otherStates whose word or meaning differs in this model
 * @property {(story: any, found: {pauses: number}) => Record<string, number>} stops how often a job stopped, by the
 *   word for it; found: where and when it ran (run/drawer/story.js)
 * @property {(metrics: Map<string, any>, store: any) => string} inUse title of its utilization chart
 * @property {(info: any) => [key: string, metric: string][]} tiles of what is in use, by the keys of `shares`
 * @property {Function} shares (store, info, p, from, width, bins) -> {key: Float64Array}, both sites together
 * @property {Function} utilization (store, info) -> {curves, exact, y, hidden, note(p)}
 * @property {object[]} jobColumns of the jobs table, {key, title, number, cell(row)}
 * @property {{mark: string, text: string, rows?: string, role?: number}[]} legend of the schedule, for one order of
 *   rows or all; with a role, only where a bar has it
 * @property {(context: any) => object[]} layers of the Gantt (gantt/layers)
 * @property {(order: string) => boolean} ofJobs true if rows in this order show single jobs, and not groups of jobs
 * @property {(server: any) => number[] | null} subRows [workers, ps] of a server where bars have fixed ones
 * @property {Function} measures (server, store, info) -> what bars hold of a server (core/held-shares.js)
 * @property {Function} stacks (server, info, bars) -> charts of the server page, {key, title, unit, capacity, amountOf}
 * @property {Function} barsOn (own, server, store) -> () => {bars, rows} of the server page; own: rows on the server
 */

/** @type {Map<string, any>} */
const MODELS = new Map([slotted, typedWorkers, colocation, observed].map((model) => [model.name, model]));

/**
 * @param {string} name
 * @returns {ExecutionModel}
 */
export function modelOf(name) {
  const model = MODELS.get(name);
  if (model) return model;
  const known = [...MODELS.keys()].join(', ');
  throw new Error(`Unknown execution model “${name}”; known: ${known}. Reload the page.`);
}

/**
 * The models of a run, in order of their first phase.
 *
 * @param {{phases: {model: string}[]}} info
 */
export function modelsOf({ phases }) {
  return [...new Set(phases.map(({ model }) => model))].map(modelOf);
}

/**
 * {key of a tile: share in use per bin, both sites together}; NaN in phases of another model.
 *
 * @param {any} store
 * @param {any} info
 * @param {number} p
 * @param {number} from
 * @param {number} width
 * @param {number} bins
 * @returns {Record<string, Float64Array>}
 */
export function sharesInUse(store, info, p, from, width, bins) {
  const models = modelsOf(info);
  const parts = models.map(({ name, shares }) => [name, shares(store, info, p, from, width, bins)]);
  if (parts.length === 1) return parts[0][1];
  const masked = (name, [key, values]) => [key, whileIn(name, info.phases, values, from, width)];
  return Object.fromEntries(
    parts.flatMap(([name, found]) => Object.entries(found).map((share) => masked(name, share))),
  );
}

/**
 * The states that jobs of a run can be in, in the order of JOB_STATES.
 *
 * @param {{phases: {model: string}[]}} info
 */
export function statesOf(info) {
  const possible = new Set(modelsOf(info).flatMap(({ states }) => states));
  return JOB_STATES.filter((name) => possible.has(name));
}

/**
 * Word and meaning of a state in the models of a run, where they differ.
 *
 * @param {{phases: {model: string}[]}} info
 * @param {string} state
 */
const other = (info, state) => modelsOf(info).find(({ otherStates }) => state in otherStates)?.otherStates[state];

/**
 * The word for a state of jobs.
 *
 * @param {{phases: {model: string}[]}} info
 * @param {string} state
 */
export const stateWord = (info, state) => other(info, state)?.word ?? state;

/**
 * Meaning of a state, as a hint.
 *
 * @param {{phases: {model: string}[]}} info
 * @param {string} state
 */
export const stateMeaning = (info, state) => other(info, state)?.meaning ?? MEANING[state];

/**
 * Numbers of times that a job stopped, by the word for it.
 *
 * @param {{phases: {model: string}[]}} info
 * @param {any} story from the API
 * @param {{pauses: number}} found where and when it ran
 */
export const stopsOf = (info, story, found) => {
  const [first] = modelsOf(info);
  return first.stops(story, found);
};
