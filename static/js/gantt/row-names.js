// The names of the rows, left of the plot.

const LABEL_PX = 11;
const LINE_PX = LABEL_PX + 2;
const MARK_PX = 4; // width of the mark of a shaded row

/**
 * Headings have priority: if rows are low, other names are omitted. That of the row under the pointer is then laid over
 * its neighbours, which stay where they are.
 */
export function paintRowNames(ctx, frame, hovered) {
  const { area, views } = frame;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, area.top - 6, area.right, area.bottom - area.top + 12);
  ctx.clip();
  ctx.textBaseline = 'middle';
  const font = `${LABEL_PX}px ${getComputedStyle(document.body).fontFamily}`;
  const taken = [];
  const middle = ({ y }) => y + frame.rowPx / 2;
  const crowded = (y) => taken.some((other) => Math.abs(other - y) < LABEL_PX + 1);
  const place = (each) => {
    const { row } = each;
    const y = middle(each);
    if (y < area.top || y > area.bottom || taken.includes(y)) return;
    if (crowded(y)) {
      ctx.fillStyle = frame.c.panel;
      ctx.fillRect(0, y - LINE_PX / 2, area.left - MARK_PX - 4, LINE_PX);
    }
    taken.push(y);
    const heading = row.kind === 'site';
    const strong = heading || row.index === hovered || (row.kind === 'job' && row.index === frame.selected);
    ctx.font = heading || row.fold ? `600 ${font}` : font;
    ctx.fillStyle = strong ? frame.c.ink : frame.c.muted;
    const label = row.fold === undefined || row.fold === null ? row.label : `${row.fold ? '▸' : '▾'} ${row.label}`;
    const plain = row.kind === 'many' && row.fold === undefined; // neither a mark to fold it nor a count
    const fitted = heading || row.kind === 'many' ? shortHeading : shorten;
    const room = area.left - (fitted === shorten ? 14 : 10);
    let lines = plain ? inLines(ctx, label, room, frame.rowPx) : [label];
    const short = (line) => (row.kind === 'server' ? withoutDomain(ctx, line, room, frame.rows.domain) : line);
    lines = lines.map((line) => fitted(ctx, short(line), room));
    // no bars are beside a heading, which goes on there rather than lose a part of its name
    if (heading && lines[0].endsWith('…') && frame.rowPx > LABEL_PX) lines = [fitted(ctx, label, area.right - 10)];
    lines.forEach((line, i) => ctx.fillText(line, 6, y + (i - (lines.length - 1) / 2) * LINE_PX));
  };
  if (frame.detail === 'bars') markShaded(ctx, frame);
  for (const each of views) if (each.row.kind === 'site' && !crowded(middle(each))) place(each);
  const others = views.filter(({ row }) => row.kind !== 'site');
  let under = null;
  for (const each of others) {
    if (each.row.index === hovered) under = each;
    if (!crowded(middle(each))) place(each);
  }
  if (under) place(under);
  ctx.restore();
}

/** Marks the rows that are shaded among rows of single bars, between their names and the plot. */
function markShaded(ctx, { area, views, rowPx, c }) {
  ctx.fillStyle = c.shade;
  for (const { how, y } of views)
    if (how === 'shade') ctx.fillRect(area.left - MARK_PX - 2, y, MARK_PX, Math.max(1, rowPx - 1));
}

/** Broken in two at its last blank if it is too long for one line and the row is high enough. */
export function inLines(ctx, text, room, rowPx) {
  const blank = text.lastIndexOf(' ');
  if (blank < 0 || rowPx < 2 * LINE_PX || ctx.measureText(text).width <= room) return [text];
  return [text.slice(0, blank), text.slice(blank + 1)];
}

/**
 * The ending that all names have in common, from a dot: '.rack0.example.org'; '' without one.
 *
 * @param {string[]} names
 */
export function sharedDomain(names) {
  const [first = '', ...others] = names;
  for (let dot = first.indexOf('.', 1); dot > 0; dot = first.indexOf('.', dot + 1)) {
    const domain = first.slice(dot);
    if (others.length && others.every((name) => name.length > domain.length && name.endsWith(domain))) return domain;
  }
  return '';
}

/** The name of a server; without the domain that all have in common if there is no room for it. */
function withoutDomain(ctx, name, room, domain) {
  return domain && ctx.measureText(name).width > room ? name.slice(0, -domain.length) : name;
}

/** Truncates at the front: names of servers and jobs differ at their ends. */
function shorten(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  let cut = 1;
  while (cut < text.length - 3 && ctx.measureText(`…${text.slice(cut)}`).width > room) cut++;
  return `…${text.slice(cut)}`;
}

/**
 * A heading without the unit of its count where there is no room: '▾ edge: 40' for '▾ edge · 40 servers'; where that
 * is too long, without its count, of which no digit may be missing; then truncated at its end.
 */
export function shortHeading(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  const counted = text.replace(/ · ([\d,]+) \w+$/, ': $1');
  if (ctx.measureText(counted).width <= room) return counted;
  const name = text.replace(/ · [\d,]+ \w+$/, '');
  if (ctx.measureText(name).width <= room) return name;
  let end = name.length - 1;
  while (end > 3 && ctx.measureText(`${name.slice(0, end)}…`).width > room) end--;
  return `${name.slice(0, end)}…`;
}
