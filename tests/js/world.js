// A browser for tests: a clock that is moved by hand, sockets that the test answers, a page that can be hidden.

class Socket extends EventTarget {
  constructor(path) {
    super();
    Object.assign(this, { path, readyState: 0, sent: [] });
  }

  /** The server accepts the connection. */
  accept() {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }

  /** The server sends a message. */
  hear(message) {
    this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(message) }));
  }

  /** The server or the network ends the connection. */
  end(code = 1006) {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code }));
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.readyState = 3;
  }
}

export class World {
  constructor() {
    this.ms = 1000;
    this.sockets = []; // in the order in which they were opened
    this.away = false;
    this.timers = new Map(); // number -> {at, action, every}
    this.events = new EventTarget();
    this.numbers = 0;
    this.listeners = new Set(); // {name, action} that stand
  }

  now = () => this.ms;
  wallNow = () => 1_700_000_000_000 + this.ms;
  random = () => 0.5; // so that a wait is exactly as long as its table says
  hidden = () => this.away;
  on = (name, action) => {
    const heard = { name, action };
    this.listeners.add(heard);
    this.events.addEventListener(name, action);
    return () => {
      this.listeners.delete(heard);
      this.events.removeEventListener(name, action);
    };
  };

  later = (wait, action) => this.#timer({ at: this.ms + wait, action });
  every = (wait, action) => this.#timer({ at: this.ms + wait, action, every: wait });
  cancel = (timer) => this.timers.delete(timer);
  connect = (path) => this.sockets[this.sockets.push(new Socket(path)) - 1];

  get socket() {
    return this.sockets.at(-1);
  }

  /** Lets `wait` ms pass, with all that is due meanwhile. */
  pass(wait) {
    const until = this.ms + wait;
    for (let next; (next = this.#next(until));) {
      const [number, timer] = next;
      this.ms = timer.at;
      if (timer.every) timer.at += timer.every;
      else this.timers.delete(number);
      timer.action();
    }
    this.ms = until;
  }

  notify(name) {
    this.events.dispatchEvent(new Event(name));
  }

  /** The page is hidden, or looked at again. */
  hide(away) {
    this.away = away;
    this.notify('visibilitychange');
  }

  #timer(timer) {
    this.timers.set(++this.numbers, timer);
    return this.numbers;
  }

  #next(until) {
    return [...this.timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)[0];
  }
}
