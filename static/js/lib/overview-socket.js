// /ws/overview/: where runs and imports stand, as it changes; listens again by itself, and says when it missed something.

/** on(message) for each message; missed() after a reconnect or when messages were dropped. */
export function watchOverview(on, missed) {
  const badge = document.getElementById('connection');
  let wait = 250;
  const say = (state, text) => {
    if (!badge) return;
    badge.hidden = false;
    badge.dataset.state = state;
    badge.textContent = text;
  };
  const connect = (again) => {
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws/overview/`);
    socket.addEventListener('open', () => {
      wait = 250;
      say('live', 'live');
      if (again) missed();
    });
    socket.addEventListener('message', (event) => {
      const message = JSON.parse(event.data);
      if (message.type === 'snapshot_needed') missed();
      else on(message);
    });
    socket.addEventListener('close', ({ code }) => {
      if (code === 4401) return say('refused', 'session ended');
      say('offline', 'connection lost');
      setTimeout(() => connect(true), wait);
      wait = Math.min(10000, wait * 2);
    });
  };
  connect(false);
}
