import { hostname, networkInterfaces } from 'node:os';
import { SelfIssuedCertificates, type ServerCertificates } from '@causeway/access';
import { FileCertificates, type CertificateFiles, type FileCertificateOptions } from './file-certificates';
import { exitWithProblems } from '../settings/load-config';

/** Source of the certificate of a port. */
export type CertificateSource =
  | { readonly type: 'off' }
  | ({ readonly type: 'files' } & CertificateFiles)
  /** The authority of this control plane; `names` are those that this host cannot discover itself. */
  | { readonly type: 'own'; readonly names: readonly string[] };

/** TLS settings of a port. */
export interface TlsSettings {
  /** Prefix of the names of these settings, such as `CAUSEWAY_KDS_TLS`. */
  readonly prefix: string;
  readonly tls: 'on' | 'off';
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly names: readonly string[];
  readonly bindAddress: string | undefined;
}

/** Reads the source from the settings; ends the program with one line if they contradict each other. */
export function certificateSource(settings: TlsSettings): CertificateSource {
  const { prefix, certificateFile, keyFile, bindAddress, names } = settings;
  const given = certificateFile !== undefined || keyFile !== undefined;
  if (settings.tls === 'off') {
    if (given) return exitWithProblems([`${prefix}_CERT_FILE and _KEY_FILE have no effect: ${prefix} is off`]);
    return { type: 'off' };
  }
  if (certificateFile !== undefined && keyFile !== undefined) return { type: 'files', certificateFile, keyFile };
  if (given) return exitWithProblems([`${prefix}_CERT_FILE and ${prefix}_KEY_FILE must be given together`]);
  const bound = bindAddress === undefined || ['0.0.0.0', '::'].includes(bindAddress) ? [] : [bindAddress];
  return { type: 'own', names: [...names, ...bound] };
}

/** Opens the certificates; undefined if TLS is off. Rejects if files do not match, and while the store is unavailable. */
export async function openCertificates(
  source: CertificateSource,
  options: Omit<Parameters<typeof SelfIssuedCertificates.open>[0], 'names'> & Pick<FileCertificateOptions, 'reload'>,
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

/** Returns all names and addresses by which clients may reach this host, and the configured ones, sorted. */
export function serverNames(configured: readonly string[]): readonly string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.includes('%'));
  return [...new Set([...configured, hostname(), 'localhost', '127.0.0.1', '::1', ...addresses])].sort();
}
