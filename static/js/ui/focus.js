// Position of the keyboard focus in a part of the page, to restore it after the part was rendered again.

/** The place of an element inside `root`: its id, the row of a job that it is in, and the path from there. */
export function placeIn(root, element) {
  const row = element.closest('[data-job]');
  const start = row && row !== root && root.contains(row) ? row : root;
  const path = [];
  for (let at = element; at !== start; at = at.parentElement) path.unshift([...at.parentElement.children].indexOf(at));
  return { id: element === root ? '' : element.id, job: start === root ? null : row.dataset.job, path };
}

/** The element now in that place, or null. */
export function foundIn(root, { id, job, path }) {
  const named = id && root.querySelector(`#${CSS.escape(id)}`);
  if (named) return named;
  let at = job === null ? root : root.querySelector(`[data-job="${CSS.escape(job)}"]`);
  for (const i of path) at = at?.children[i];
  return at ?? null;
}

/** () -> the element, or its replacement after it was rendered again; null if there is none. */
export function finder(element) {
  const root = element.parentElement?.closest('[id]');
  if (!root) return () => null;
  const place = placeIn(root, element);
  return () => (element.isConnected ? element : foundIn(document.getElementById(root.id) ?? document.body, place));
}
