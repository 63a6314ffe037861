import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Longer than anybody lets a quickstart run; each start asks for new ones. */
const TOKEN_LIFE = '8760h';

/**
 * The files that a zone joins the global by, which it reads anew at each try, so that they may come after it; and the
 * file in which a control plane leaves the token of an administrator.
 */
export function credentialFiles(dataDir, name) {
  return {
    caFile: join(dataDir, 'zones', 'global-ca.pem'),
    tokenFile: join(dataDir, 'zones', `${name}.token`),
    adminTokenFile: join(dataDir, 'admins', `${name}.token`),
  };
}

/** Removes the credentials that earlier incarnations of the control planes issued, and what agents had of them. */
export function forgetCredentials(dataDir, agents) {
  for (const folder of [join(dataDir, 'zones'), join(dataDir, 'admins'), agents])
    rmSync(folder, { recursive: true, force: true });
}

/** Asks the global for its authority and a token for each zone, and keeps them where only this account may read them. */
export async function provideCredentials(globalApi, zones, dataDir) {
  mkdirSync(join(dataDir, 'zones'), { recursive: true, mode: 0o700 });
  const ca = await globalApi.text('GET', '/kds/ca');
  for (const zone of zones) {
    const { caFile, tokenFile } = credentialFiles(dataDir, zone);
    keep(caFile, ca);
    keep(tokenFile, await globalApi.text('POST', '/tokens/zone', { zone, validFor: TOKEN_LIFE }));
  }
}

/** Never half a file: a program may be reading it. */
export function keep(file, content) {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
