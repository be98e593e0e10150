// Scopes of tokens with their labels: for the form of a new token, and for the form of a cluster that posts its events.

/** @type {Record<string, string>} */
export const SCOPES = {
  ingest: 'ingest: post events of one source',
  read: 'read: read with the API',
  operate: 'operate: read and change with the API',
};
