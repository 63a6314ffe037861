/**
 * Keeps in a shared folder what zones join the global by: its authority, and a token for each zone of the file ZONES_FILE (a
 * name a line, read again every few seconds), renewed every day and valid for three. A zone reads its files anew at each connection. The authority is taken from whoever answers in this
 * private network, and sees no token; everything else is asked of the server that this authority verifies.
 */
import { chownSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

const { CAUSEWAY_SERVER: server, CAUSEWAY_OPERATOR_TOKEN_FILE: tokenFile, ZONES_FILE: zonesFile } = process.env;
const FOLDER = process.env.ZONES_FOLDER ?? '/zones';
const operator = readFileSync(tokenFile, 'utf8').trim();
const LOOK_EVERY_MS = 5_000;
const RENEW_EVERY_MS = 24 * 3_600_000;
const RETRY_AFTER_MS = 2_000;
const ANSWER_WITHIN_MS = 10_000;
/** The user that the image of the control planes runs as. */
const NODE_USER = 1000;

/** Answers of the global; `trust` is how it is verified. */
function ask(path, trust, body) {
  const headers = {
    ...(trust.ca && { authorization: `Bearer ${operator}` }),
    ...(body && { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const options = { ...trust, agent: false, method: body ? 'POST' : 'GET', headers, timeout: ANSWER_WITHIN_MS };
    const sent = request(server + path, options, (answer) => {
      let text = '';
      answer
        .setEncoding('utf8')
        .on('error', reject)
        .on('data', (part) => (text += part));
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(text);
        else reject(new Error(`the global answered ${answer.statusCode} to ${path}: ${text}`));
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`the global did not answer ${path} in time`)));
    sent.on('error', reject).end(body && JSON.stringify(body));
  });
}

/** Never half a file: a zone may read it at any time. */
function keep(name, content) {
  const file = `${FOLDER}/${name}`;
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  chownSync(`${file}.new`, NODE_USER, NODE_USER);
  renameSync(`${file}.new`, file);
}

/** Asks for everything anew, for these zones. */
async function renew(zones) {
  const ca = await ask('/rest/ca', { rejectUnauthorized: false });
  keep('global-rest-ca.pem', ca);
  keep('global-ca.pem', await ask('/kds/ca', { ca }));
  for (const zone of zones) keep(`${zone}.token`, await ask('/tokens/zone', { ca }, { zone, validFor: '72h' }));
  keep('done', '');
}

const zonesOf = (text) => text.split('\n').filter((line) => line !== '');

process.on('SIGTERM', () => process.exit(0));
for (let [known, renewed] = [undefined, 0]; ;) {
  try {
    const text = readFileSync(zonesFile, 'utf8');
    if (text !== known || Date.now() - renewed >= RENEW_EVERY_MS) {
      await renew(zonesOf(text));
      [known, renewed] = [text, Date.now()];
    }
    await pause(LOOK_EVERY_MS);
  } catch (error) {
    console.error(error.message);
    await pause(RETRY_AFTER_MS);
  }
}
