import { readFileSync } from 'node:fs';
import { exitWithProblems } from '@causeway/control-plane';
import { errorText, type Logger } from '@causeway/runtime';
import { CredentialsMissing, globalCredentials, type GlobalTrust, type ZoneSyncOptions } from '@causeway/kds';
import type { ZoneSettings } from '../config';

/** The address of a zone's global and its verification; the file of the authority is read again for each connection. */
export interface GlobalAddress extends Pick<ZoneSyncOptions, 'addresses' | 'credentials'> {
  readonly trust: GlobalTrust['type'];
}

/**
 * Returns the global that a zone joins, or undefined for a zone without a global: `grpcs://host:port` over TLS, `grpc://host:port` in plaintext; of
 * several replicas with commas between. Any other value, and contradicting settings, end the program with one line.
 */
export function readGlobalAddress(settings: ZoneSettings): GlobalAddress | undefined {
  const given = settings.CAUSEWAY_GLOBAL_ADDRESS;
  if (given === undefined) return undefined;
  const parsed = parseAddresses(given);
  if (typeof parsed === 'string') return exitWithProblems([`CAUSEWAY_GLOBAL_ADDRESS: ${parsed}; got "${given}"`]);
  const { scheme, addresses } = parsed;
  const contradictions = contradictionsIn(settings, scheme === 'grpcs');
  if (contradictions.length > 0) return exitWithProblems(contradictions);
  const trust = (): GlobalTrust => (scheme === 'grpc' ? { type: 'plain' } : tlsTrust(settings));
  return {
    addresses,
    trust: scheme === 'grpc' ? 'plain' : settings.CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY ? 'unverified' : 'verified',
    credentials: () => globalCredentials(trust()),
  };
}

/** Maximum number of addresses of a global. */
const MAX_ADDRESSES = 16;

/** Returns the addresses of a setting, with the scheme that all have, or what is wrong. The scheme of the first one counts for those without. */
function parseAddresses(given: string): { readonly scheme: string; readonly addresses: readonly string[] } | string {
  const parts = given.split(',').map((part) => /^(?:(grpcs?):\/\/)?([^/\s]+:\d+)\/?$/.exec(part.trim()) ?? []);
  const addresses = parts.map(([, , address]) => address ?? '');
  const [[, scheme = ''] = []] = parts;
  const isAnyWrong = addresses.includes('') || parts.some(([, other = scheme]) => other !== scheme);
  if (scheme === '' || isAnyWrong)
    return 'must be grpcs://host:port or grpc://host:port, or several with commas between, all with one scheme';
  if (new Set(addresses).size < addresses.length) return 'names an address twice';
  return addresses.length > MAX_ADDRESSES ? `may name ${MAX_ADDRESSES} addresses` : { scheme, addresses };
}

/** Logs a warning about disabled verification. */
export function warnOfTrust({ trust }: GlobalAddress, settings: ZoneSettings, logger: Logger): void {
  if (trust === 'unverified') {
    logger.warn('THE GLOBAL IS NOT VERIFIED: whoever answers at its address is taken for it, and gets the zone token', {
      setting: 'CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY=true',
    });
  }
  if (trust === 'plain' && (settings.CAUSEWAY_ZONE_TOKEN ?? settings.CAUSEWAY_ZONE_TOKEN_FILE) !== undefined) {
    logger.warn('the zone token can be read on its way to the global: use grpcs://', {
      setting: 'CAUSEWAY_GLOBAL_ADDRESS',
    });
  }
}

function contradictionsIn(settings: ZoneSettings, tls: boolean): string[] {
  const { CAUSEWAY_GLOBAL_CA_FILE: ca, CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY: skip } = settings;
  const twice = settings.CAUSEWAY_ZONE_TOKEN !== undefined && settings.CAUSEWAY_ZONE_TOKEN_FILE !== undefined;
  return [
    ...(!tls && (ca !== undefined || skip)
      ? ['CAUSEWAY_GLOBAL_ADDRESS: must be grpcs://host:port where TLS is configured']
      : []),
    ...(tls && ca !== undefined && skip
      ? ['CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY: must not be true beside CAUSEWAY_GLOBAL_CA_FILE']
      : []),
    ...(twice ? ['CAUSEWAY_ZONE_TOKEN and CAUSEWAY_ZONE_TOKEN_FILE: give one of them'] : []),
  ];
}

function tlsTrust(settings: ZoneSettings): GlobalTrust {
  if (settings.CAUSEWAY_GLOBAL_TLS_SKIP_VERIFY) return { type: 'unverified' };
  const file = settings.CAUSEWAY_GLOBAL_CA_FILE;
  if (file === undefined) return { type: 'verified' };
  return { type: 'verified', authority: readNamed('CAUSEWAY_GLOBAL_CA_FILE', file) };
}

/** Throws with the setting's name: the zone continues without its global, and retries. */
function readNamed(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const Failure = missing ? CredentialsMissing : Error;
    throw new Failure(`${setting}: ${errorText(cause)}`, { cause });
  }
}
