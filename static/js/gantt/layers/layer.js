// Base class of the layers of the Gantt, and their painting order.

export const LEVEL = {
  GRID: 0,
  GROUPS: 1,
  MARKS: 2,
  SHADE: 3,
  BARS: 4,
  ON_BARS: 5,
  LABELS: 6,
  PLAN: 7,
  EVENTS: 8,
  SELECTION: 9,
};

export class Layer {
  constructor(name, level) {
    this.name = name;
    this.level = level;
  }

  /** Text that changes with what the note below the schedule states of this layer. */
  get signature() {
    return '';
  }

  /** Paints the part in the frame. */
  paint(_ctx, _frame) {}

  /** Paints marks in the space above the rows. */
  paintAbove(_ctx, _frame) {}

  /** The hit at a point of the canvas, or null. */
  hit(_x, _y, _frame) {
    return null;
  }

  /** Lines of a tooltip, [name, value, job?] each. */
  describe(_hit, _frame) {
    return [];
  }

  /** True if it paints this row instead of its bars. */
  owns(_row) {
    return false;
  }

  /** Table rows of its content on a row: job, role, server, count, start, end. */
  table(_row, _frame) {
    return [];
  }
}
