// Height of the rows of a schedule with which all of them are visible, within limits.

export const MIN_ROW_PX = 3;
const [MIN_FITTED_PX, MAX_FITTED_PX] = [5, 40];
const MAX_GROUP_PX = 400; // of a whole site, user or queue

/**
 * Rows of servers are shaded at either lower limit, so all of them are shown where the lower one suffices; rows of jobs
 * lose their bars below the higher one.
 *
 * @param {number} height px of all rows together
 * @param {{list: any[], order: string, many: boolean}} rows
 */
export function fittedPx(height, { list, order, many }) {
  const fit = height / Math.max(1, list.length);
  const least = order === 'servers' && fit >= MIN_ROW_PX ? MIN_ROW_PX : MIN_FITTED_PX;
  return Math.min(Math.max(fit, least), many ? MAX_GROUP_PX : MAX_FITTED_PX);
}
