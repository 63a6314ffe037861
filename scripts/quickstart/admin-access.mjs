import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { waitFor } from '../lib/wait.mjs';
import { credentialFiles, keep } from './zone-credentials.mjs';

/** Until the leader of a first start has written its token, ms. */
const WRITTEN_WITHIN_MS = 5_000;
/** As long as that of a control plane's first start. */
const TOKEN_LIFE = '8760h';
/** Longest path of a unix socket, in bytes. */
const MAX_SOCKET_PATH = 107;

/** The token by which the starter itself asks the control planes of this run: the given one, else one that nobody else has. */
export function starterToken({ operatorToken }) {
  return operatorToken || randomBytes(24).toString('base64url');
}

/** The unix socket of a control plane, at which no token is needed; undefined where the data folder's path is too long for one. */
export function adminSocket(dataDir, name) {
  const path = join(dataDir, 'sockets', `${name}.sock`);
  return Buffer.byteLength(path) > MAX_SOCKET_PATH ? undefined : path;
}

/** Makes sure that the file of a control plane holds a valid token of an administrator: that of its first start, or one more. */
export async function provideAdminToken(api, plane, { dataDir, signal }) {
  const { adminTokenFile: file } = credentialFiles(dataDir, plane.name);
  await waitFor(() => existsSync(file), { timeoutMs: WRITTEN_WITHIN_MS, signal });
  if (await isValid(plane, file, signal)) return;
  const order = { name: 'admin', groups: ['causeway:admins'], validFor: TOKEN_LIFE };
  keep(file, await api.text('POST', '/tokens/user', order));
}

async function isValid({ restUrl }, file, signal) {
  if (!existsSync(file)) return false;
  const headers = { authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` };
  return (await fetch(`${restUrl}/who-am-i`, { headers, signal })).ok;
}

/**
 * Gives the command line tool a context for each control plane, named `demo-…`, which it takes by the address of `--server`.
 * Gives what takes them away again. Contexts of the user and of another demo that has its files stay as they are.
 */
export function provideContexts({ root, dataDir, controlPlanes }) {
  const require = createRequire(import.meta.url);
  const ofTool = (name) => require(join(root, 'dist', 'apps', 'ctl', 'src', name)); // CommonJS, and built by now
  const { contextsFile } = ofTool('config.js').readCliConfig();
  const { readContexts, writeContexts } = ofTool('contexts-file.js');
  const ours = new Set(controlPlanes.map(({ name }) => credentialFiles(dataDir, name).adminTokenFile));
  const others = () => {
    const known = readContexts(contextsFile);
    const kept = Object.entries(known.contexts).filter(([, { tokenFile }]) => !ours.has(tokenFile));
    return { ...known, contexts: Object.fromEntries(kept) };
  };
  const known = others();
  const isFree = (name) => {
    const { tokenFile } = known.contexts[name] ?? {};
    return !(name in known.contexts) || (tokenFile !== undefined && !existsSync(tokenFile));
  };
  const added = controlPlanes.map(({ name, restUrl, ports }) => [
    isFree(`demo-${name}`) ? `demo-${name}` : `demo-${name}-${ports.rest}`,
    { server: restUrl, tokenFile: credentialFiles(dataDir, name).adminTokenFile },
  ]);
  writeContexts(contextsFile, { ...known, contexts: { ...known.contexts, ...Object.fromEntries(added) } });
  return () => {
    const { currentContext, contexts } = others();
    const current = currentContext !== undefined && currentContext in contexts ? { currentContext } : {};
    writeContexts(contextsFile, { ...current, contexts });
  };
}
