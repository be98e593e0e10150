// Charts of the run page that have registered, in the order of index.js, which imports their files.
//
// A panel: {id, title, make(page, section)}. `make` gives {chart, update(), refresh(), moved(), status(detail)}, of
// which only the chart is needed: update after new data, refresh now and then, moved when another moment is shown,
// status with the run's status message. `chart` has `table(time)` for the table of its numbers.

/** @typedef {{id: string, title: string, make: (page: any, section: any) => any}} Panel */

/** @type {Panel[]} */
export const PANELS = [];

/** Adds a chart to the run page. @param {Panel} panel */
export function registerPanel(panel) {
  if (PANELS.some(({ id }) => id === panel.id))
    throw new Error(`Chart “${panel.id}” is registered twice; each chart of the run page needs an id of its own.`);
  PANELS.push(panel);
}
