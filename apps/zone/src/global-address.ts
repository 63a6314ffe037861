import { readFileSync } from 'node:fs';
import { fail } from '@causeway/control-plane';
import { credentials, type ChannelCredentials } from '@grpc/grpc-js';
import { errorText, type SettingValues } from '@causeway/runtime';
import type { zoneSettings } from './config';

/** Where a zone's global is and how to speak to it. */
export interface GlobalAddress {
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly token: () => string | undefined;
}

/**
 * The global a zone joins, or undefined for a zone by itself: `grpcs://host:port` over TLS, `grpc://host:port` in plain
 * text. Anything else ends the program with one line.
 */
export function readGlobalAddress(settings: SettingValues<typeof zoneSettings>): GlobalAddress | undefined {
  const given = settings.CAUSEWAY_GLOBAL_ADDRESS;
  if (given === undefined) return undefined;
  const [, scheme, address] = /^(grpcs?):\/\/([^/]+:\d+)\/?$/.exec(given) ?? [];
  if (address === undefined)
    return fail([`CAUSEWAY_GLOBAL_ADDRESS: must be grpcs://host:port or grpc://host:port; got "${given}"`]);
  return {
    address,
    credentials: scheme === 'grpc' ? credentials.createInsecure() : tls(settings),
    token: () => token(settings),
  };
}

function tls(settings: SettingValues<typeof zoneSettings>): ChannelCredentials {
  const file = settings.CAUSEWAY_GLOBAL_CA_FILE;
  const roots = file === undefined ? null : readOrFail(file);
  const options = settings.CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY ? { rejectUnauthorized: false } : {};
  return credentials.createSsl(roots, null, null, options);
}

function token(settings: SettingValues<typeof zoneSettings>): string | undefined {
  const file = settings.CAUSEWAY_ZONE_TOKEN_FILE;
  return file === undefined ? settings.CAUSEWAY_ZONE_TOKEN : readFileSync(file, 'utf8').trim();
}

function readOrFail(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    return fail([`CAUSEWAY_GLOBAL_CA_FILE: ${errorText(error)}`]);
  }
}
