// The page that connects a cluster.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { connectForm } from '../live/connect-form.js';
import { $, fill, h } from '../ui/dom.js';

get('/api/connectors/')
  .then((known) => connectForm($('#new'), known, ({ name }) => location.assign(`/live/${name}/`)))
  .catch((error) => {
    logError(error);
    fill($('#new'), h('p', { class: 'error', role: 'alert' }, error.message));
  });
