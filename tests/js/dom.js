// A page in the test's process (happy-dom): elements, a canvas that writes down what is painted, and answers of the
// API. Where npm's packages are not installed, `page` is null and tests of the DOM are skipped.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const TEMPLATES = new URL('../../templates/', import.meta.url);
const GLOBALS = [
  'window',
  'document',
  'location',
  'history',
  'Node',
  'HTMLElement',
  'CSS',
  'getComputedStyle',
  'MutationObserver',
  'ResizeObserver',
  'IntersectionObserver',
  'localStorage',
  'matchMedia',
  'DOMParser',
  'FormData',
  'innerWidth',
  'innerHeight',
  'devicePixelRatio',
]; // not Event and EventTarget: the sources' own emitters are Node's

const wait = globalThis.setTimeout;
const timers = new Set(); // of the page: they do not keep the test's process alive, and end with it
for (const name of ['setTimeout', 'setInterval']) {
  const real = globalThis[name];
  globalThis[name] = (...given) => {
    const timer = real(...given).unref();
    timers.add(timer);
    return timer;
  };
}

const happy = await import('happy-dom').catch(() => null);

const [WIDTH, HEIGHT] = [800, 240]; // of every element: there is no layout

/** Options of a test that needs a page. */
export const needsPage = { skip: happy ? false : 'happy-dom is not installed (npm ci)' };

/** Every context of every canvas: what was filled and written. */
export const painted = [];

function context(canvas) {
  const own = {
    canvas,
    fillRect: (...rect) => painted.push([own.fillStyle, ...rect]),
    fillText: (text) => painted.push([own.fillStyle, text]),
    measureText: (text) => ({
      width: String(text).length * 6,
      actualBoundingBoxAscent: 8,
      actualBoundingBoxDescent: 2,
    }),
    createImageData: (width, height) => ({ data: new Uint8ClampedArray(width * height * 4) }),
    createPattern: () => 'pattern',
    createLinearGradient: () => ({ addColorStop() {} }),
    getLineDash: () => [],
    getTransform: () => ({ a: 1, d: 1 }),
  };
  return new Proxy(own, {
    get: (target, name) => (name in target ? target[name] : () => {}),
    set: (target, name, value) => ((target[name] = value), true),
  });
}

/** The body of a template, with what an operator sees; names: of {{ variables }}. */
export function template(name, names = {}) {
  const text = readFileSync(new URL(name, TEMPLATES), 'utf8');
  const included = text.replace(/{% include "(\w+\.html)"(?: with (.*?))? %}/g, (_, file, given = '') => {
    const own = Object.fromEntries([...given.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]));
    return template(file, { ...names, ...own });
  });
  return included.replace(/{%.*?%}/gs, '').replace(/{{ ?([\w.]+).*?}}/g, (_, key) => names[key] ?? '');
}

/** Opens a page at a path with a body; the globals of a browser are those of the new page. */
export function open(path = '/', body = '') {
  for (const timer of timers) clearTimeout(timer);
  timers.clear();
  const window = new happy.Window({ url: `http://twin.test${path}`, width: 1280, height: 900 });
  for (const name of GLOBALS)
    Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true });
  for (const name of ['addEventListener', 'removeEventListener', 'confirm', 'scrollTo'])
    globalThis[name] = window[name]?.bind(window);
  globalThis.requestAnimationFrame = window.requestAnimationFrame = (draw) =>
    wait(() => draw(performance.now()), 0).unref();
  globalThis.cancelAnimationFrame = clearTimeout;
  const { prototype } = window.HTMLCanvasElement;
  prototype.getContext = function getContext() {
    return (this.own ??= context(this));
  };
  const { prototype: element } = window.HTMLElement;
  for (const [name, value] of [
    ['clientWidth', WIDTH],
    ['offsetWidth', WIDTH],
    ['clientHeight', HEIGHT],
    ['offsetHeight', HEIGHT],
  ]) {
    Object.defineProperty(element, name, { get: () => value, configurable: true });
  }
  element.getBoundingClientRect = () => ({
    left: 0,
    top: 0,
    x: 0,
    y: 0,
    right: WIDTH,
    bottom: HEIGHT,
    width: WIDTH,
    height: HEIGHT,
  });
  element.showPopover ??= function showPopover() {};
  element.hidePopover ??= function hidePopover() {};
  element.scrollIntoView ??= function scrollIntoView() {};
  element.checkVisibility ??= () => true;
  window.document.body.innerHTML = body;
  window.document.body.dataset.role = 'operator';
  return window;
}

/** Opens a page of the twin: the body of a template below the bar on top. */
export function openPage(path, name, names = {}) {
  return open(path, `<span id="connection" hidden></span>${template(name, names)}`);
}

/** Answers fetch by [path's begin, answer or (body, path) => answer] of the first that fits; returns what was asked. */
export function serve(answers) {
  const asked = [];
  globalThis.fetch = async (path, { method = 'GET', body } = {}) => {
    asked.push([method, String(path), body === undefined ? undefined : JSON.parse(body)]);
    const found = answers.find(([begin]) => String(path).startsWith(begin));
    if (!found) return new Response(JSON.stringify({ detail: `nothing at ${path}` }), { status: 404 });
    const answer =
      typeof found[1] === 'function'
        ? await found[1](body === undefined ? undefined : JSON.parse(body), String(path), method)
        : found[1];
    return answer instanceof Response ? answer : new Response(JSON.stringify(answer), { status: 200 });
  };
  return asked;
}

const kept = JSON.parse(gunzipSync(readFileSync(new URL('../fixtures/page_answers.json.gz', import.meta.url))));

/**
 * The numbers of the runs whose answers are recorded, by name, and of the sweep
 * (tests/dashboard/openapi/test_page_answers.py).
 */
export const RUNS = { ...kept.runs, sweep: kept.sweep };

/**
 * The recorded answer of a path of the API; of another query, or of another scenario, cluster or trace, the one that
 * was recorded.
 */
export function recorded(path) {
  const [address] = path.split('?');
  const kind = address.match(/^\/api\/(scenarios|clusters|traces)\/\d+\//)?.[0].replace(/\d+/, '\\d+');
  const like = () =>
    Object.keys(kept.answers).find((other) => other.split('?')[0] === address) ??
    Object.keys(kept.answers).find(
      (other) => kind && new RegExp(`^${kind}${address.split('/').slice(4).join('/')}$`).test(other),
    );
  const found = kept.answers[path] ?? kept.answers[like()];
  if (!found) return undefined;
  return found.base64
    ? new Response(Buffer.from(found.base64, 'base64'))
    : new Response(JSON.stringify(found.body), { status: found.status });
}

/** Answers as the server did when they were recorded; `first` before all others. */
export function serveRecorded(first = []) {
  return serve([
    ...first,
    ['/api/client-errors/', {}],
    ['/api/clusters/?trace=', clustersOf],
    [
      '/api/',
      (body, path) =>
        recorded(path) ?? new Response(JSON.stringify({ detail: `not recorded: ${path}` }), { status: 404 }),
    ],
  ]);
}

/** The recorded clusters of the trace in the address. */
async function clustersOf(_, path) {
  const answer = await recorded('/api/clusters/?size=500').json();
  const trace = Number(new URLSearchParams(path.split('?')[1]).get('trace'));
  return { ...answer, results: answer.results.filter((one) => one.trace === trace) };
}

/** Sockets that were opened; a test may answer on them. */
export const sockets = [];

globalThis.WebSocket = class extends EventTarget {
  constructor(address) {
    super();
    this.address = address;
    this.readyState = 0;
    sockets.push(this);
  }

  send() {}

  close() {}

  /** The server sends a message. */
  hear(message) {
    this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(message) }));
  }
};

/** Waits until a condition holds; what it gives. */
export async function until(condition, what = String(condition)) {
  for (let i = 0; i < 400; i++) {
    const found = await condition();
    if (found) return found;
    await new Promise((resolve) => wait(resolve, 5));
  }
  throw new Error(`never: ${what}`);
}
