// The connection and the age of the data, on top of the page.

import { duration } from '../lib/format.js';

const TEXT = { connecting: 'connecting', live: 'live', offline: 'connection lost, trying again', paused: 'paused in the background', refused: 'not connected' };

export function connectionBadge(element, stream) {
  const paint = () => {
    const age = stream.heardAt ? performance.now() - stream.heardAt : null;
    const old = age !== null && age > 1500 ? `, data ${duration(Math.round(age / 1000) * 1000)} old` : '';
    element.hidden = false;
    element.dataset.state = stream.state;
    element.textContent = `${TEXT[stream.state]}${old}${stream.error ? `: ${stream.error}` : ''}`;
  };
  stream.addEventListener('connection', paint);
  setInterval(paint, 1000);
  paint();
}
