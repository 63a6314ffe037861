import { hostname, networkInterfaces } from 'node:os';
import { exitWithProblems, FileCertificates, type CertificateFiles } from '@causeway/control-plane';
import { SelfIssuedCertificates, type ServerCertificates } from '@causeway/access';
import type { GlobalSettings } from './config';

/** Where the certificate that zones see comes from. */
export type CertificateSource =
  | { readonly type: 'off' }
  | ({ readonly type: 'files' } & CertificateFiles)
  /** An authority of our own; `names` are those that this machine does not know of itself. */
  | { readonly type: 'own'; readonly names: readonly string[] };

/** Reads it of the settings; ends the program with one line when they do not fit together. */
export function certificateSource(settings: GlobalSettings): CertificateSource {
  const { CAUSEWAY_KDS_TLS_CERT_FILE: certificateFile, CAUSEWAY_KDS_TLS_KEY_FILE: keyFile } = settings;
  const given = certificateFile !== undefined || keyFile !== undefined;
  if (settings.CAUSEWAY_KDS_TLS === 'off') {
    if (given)
      return exitWithProblems(['CAUSEWAY_KDS_TLS_CERT_FILE and _KEY_FILE say nothing where CAUSEWAY_KDS_TLS is off']);
    return { type: 'off' };
  }
  if (certificateFile !== undefined && keyFile !== undefined) return { type: 'files', certificateFile, keyFile };
  if (given)
    return exitWithProblems(['CAUSEWAY_KDS_TLS_CERT_FILE and CAUSEWAY_KDS_TLS_KEY_FILE must be given together']);
  const bound = settings.CAUSEWAY_KDS_BIND_ADDRESS;
  const own = bound === undefined || ['0.0.0.0', '::'].includes(bound) ? [] : [bound];
  return { type: 'own', names: [...settings.CAUSEWAY_KDS_TLS_NAMES, ...own] };
}

/** Opens it; undefined where TLS is off. Rejects where files do not fit together, and while the store is away. */
export async function openCertificates(
  source: CertificateSource,
  options: Omit<Parameters<typeof SelfIssuedCertificates.open>[0], 'names'>,
): Promise<ServerCertificates | undefined> {
  switch (source.type) {
    case 'off':
      return undefined;
    case 'files':
      return new FileCertificates({ ...options, ...source });
    case 'own':
      return SelfIssuedCertificates.open({ ...options, names: () => serverNames(source.names) });
  }
}

/** Every name and address that zones may know this machine by, and those that were configured besides, sorted. */
export function serverNames(configured: readonly string[]): readonly string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.includes('%'));
  return [...new Set([...configured, hostname(), 'localhost', '127.0.0.1', '::1', ...addresses])].sort();
}
