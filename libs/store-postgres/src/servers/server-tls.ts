import { readFileSync } from 'node:fs';

/**
 * TLS as libpq names it: `require` encrypts and verifies nothing; with root certificates it does as `verify-ca`, which verifies who signed the
 * certificate; `verify-full` verifies the host name too.
 */
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'];
/** Modes of the driver that verify nothing; `require` stands for them. */
const UNVERIFIED = ['allow', 'prefer', 'no-verify'];
/** Takes the authorities of Node (and of NODE_EXTRA_CA_CERTS), as libpq those of the system. */
const SYSTEM_ROOTS = 'system';

/** Returns what is wrong with the parameters of TLS of a URL; undefined if nothing is. */
export function tlsFault(parameters: URLSearchParams): string | undefined {
  const [mode, root] = [parameters.get('sslmode'), parameters.get('sslrootcert')];
  if (mode !== null && ![...MODES, ...UNVERIFIED].includes(mode)) return `sslmode must be one of ${MODES.join(', ')}`;
  if (mode === 'verify-ca' && root === null)
    return 'sslmode=verify-ca needs sslrootcert=FILE, the authority of the server; with sslmode=verify-full a public one will do';
  if (root === SYSTEM_ROOTS && mode !== 'verify-full') return 'sslrootcert=system needs sslmode=verify-full';
  if (root === null || root === SYSTEM_ROOTS) return undefined;
  try {
    return readFileSync(root, 'utf8').includes('-----BEGIN CERTIFICATE-----')
      ? undefined
      : `sslrootcert: ${root} has no certificate in PEM`;
  } catch (error) {
    return `sslrootcert: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Returns the parameters of a URL for the driver, which takes libpq's meaning of `sslmode` only when asked, warns otherwise, and reads
 * `sslrootcert=system` as a file.
 */
export function driverParameters(given: URLSearchParams): URLSearchParams {
  const parameters = new URLSearchParams(given);
  const mode = parameters.get('sslmode');
  if (mode === null) {
    // As libpq: root certificates without a mode are verified where TLS is on, which they turn on here.
    if (!parameters.has('sslrootcert')) return parameters;
    parameters.set('sslmode', 'verify-ca');
  } else if (UNVERIFIED.includes(mode)) parameters.set('sslmode', 'require');
  if (parameters.get('sslrootcert') === SYSTEM_ROOTS) parameters.delete('sslrootcert');
  parameters.set('uselibpqcompat', 'true');
  return parameters;
}

/** Returns whether connections are encrypted and the certificate is not verified. */
export function isUnverified(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { searchParams } = new URL(url);
  return searchParams.get('sslmode') === 'require' && !searchParams.has('sslrootcert');
}
