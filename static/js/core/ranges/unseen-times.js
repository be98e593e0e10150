// Times in which a real cluster was not seen: of them, only what became known later is in the log.

const STRIPE_PX = 6;

/** @typedef {[fromMs: number, untilMs: number, reason: string]} Span */

export class UnseenTimes {
  /** @param {{gaps: Span[]}} store */
  constructor(store) {
    this.store = store;
    /** @type {Span | null} */
    this.open = null; // the span in progress
  }

  /**
   * Takes the time up to which the cluster was seen, and the present time.
   *
   * @param {number | null} seenMs
   * @param {number | null} presentMs
   * @param {string} why reason why it has not been seen since then; '' while it is seen
   */
  update(seenMs, presentMs, why) {
    this.open = why && seenMs !== null && presentMs !== null && presentMs > seenMs ? [seenMs, presentMs, why] : null;
  }

  /** The spans in the order of time; the last one may be in progress. */
  get spans() {
    return this.open ? [...this.store.gaps, this.open] : this.store.gaps;
  }
}

/**
 * Paints the hatched band of an unseen time.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {{top: number, bottom: number}} area of the plot, px
 * @param {number} x px
 * @param {number} right px
 * @param {string} color
 */
export function paintUnseen(ctx, { top, bottom }, x, right, color) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, top, right - x, bottom - top);
  ctx.clip();
  ctx.globalAlpha = 0.16;
  ctx.fillStyle = color;
  ctx.fillRect(x, top, right - x, bottom - top);
  ctx.globalAlpha = 0.3;
  ctx.strokeStyle = color;
  ctx.lineWidth = 1;
  stripes(ctx, x, right, top, bottom);
  ctx.restore();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} right
 * @param {number} top
 * @param {number} bottom
 */
function stripes(ctx, x, right, top, bottom) {
  const height = bottom - top;
  ctx.beginPath();
  for (let at = x - height - ((x - height) % STRIPE_PX); at < right; at += STRIPE_PX) {
    ctx.moveTo(at, bottom);
    ctx.lineTo(at + height, top);
  }
  ctx.stroke();
}
