// Execution models of schedulers as heads of lists: title, rule, and a small picture of how jobs hold servers.

const GRID = [0, 1, 2, 3].flatMap((x) => [0, 1, 2].filter((y) => (x + y) % 3 !== 2).map((y) => [x * 7, y * 6, 6, 5]));
const WORKERS = [[0, 0, 12, 4], [14, 0, 14, 4], [5, 6, 18, 4], [0, 12, 8, 4], [10, 12, 13, 4]]; // prettier-ignore
const BLOCKS = [[0, 0, 13, 16], [15, 0, 13, 7], [15, 9, 13, 7]]; // prettier-ignore

/**
 * Heads in the order shown; the last has schedulers of models that are not known here, and those not available.
 * picture: rectangles [x, y, width, height] in 28 by 17.
 */
export const MODEL_HEADS = [
  { name: 'slotted', title: 'Slotted', rule: 'Jobs hold amounts of resources, slot by slot', picture: GRID },
  {
    name: 'typed_workers',
    title: 'Typed workers',
    rule: 'Each worker of a type does one thing at a time',
    picture: WORKERS,
  },
  { name: 'colocation', title: 'Co-location', rule: 'Jobs share whole machines in groups', picture: BLOCKS },
  { name: 'other', title: 'Others', rule: '', picture: [] },
];

/** @param {{model?: string}} scheduler as the API lists it */
export const headOf = ({ model }) =>
  MODEL_HEADS.find(({ name }) => name === model) ?? MODEL_HEADS[MODEL_HEADS.length - 1];
