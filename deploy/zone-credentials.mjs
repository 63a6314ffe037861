/**
 * Keeps in a shared folder what zones join the global by: its authority, and a token for each zone of ZONES, renewed every
 * day and valid for three. A zone reads its files anew at each connection.
 */
import { chownSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const { CAUSEWAY_SERVER: server, CAUSEWAY_OPERATOR_TOKEN: operator, ZONES: zones = '' } = process.env;
const RENEW_EVERY_MS = 24 * 3_600_000;
const RETRY_AFTER_MS = 2_000;
/** The user that the image of the control planes runs as. */
const NODE_USER = 1000;

async function ask(path, body) {
  const response = await fetch(server + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${operator}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the global answered ${response.status} to ${path}: ${text}`);
  return text;
}

/** Never half a file: a zone may read it at any time. */
function keep(name, content) {
  writeFileSync(`/zones/${name}.new`, content, { mode: 0o600 });
  chownSync(`/zones/${name}.new`, NODE_USER, NODE_USER);
  renameSync(`/zones/${name}.new`, `/zones/${name}`);
}

process.on('SIGTERM', () => process.exit(0));
for (;;) {
  try {
    keep('global-ca.pem', await ask('/kds/ca'));
    for (const zone of zones.split(',')) keep(`${zone}.token`, await ask('/tokens/zone', { zone, validFor: '72h' }));
    keep('done', '');
    await pause(RENEW_EVERY_MS);
  } catch (error) {
    console.error(error.message);
    await pause(RETRY_AFTER_MS);
  }
}
