import { exitWithProblems, retryWhileUnavailable, exitOnError, type ControlPlaneCore } from '@causeway/control-plane';
import { SelfIssuedCertificates, type ServerCertificates } from '@causeway/access';
import type { GlobalSettings } from './config';
import { FileCertificates, type CertificateFiles } from './file-certificates';
import { serverNames } from './server-names';

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

/** Opens it; undefined where TLS is off. Files that do not fit together end the program with one line. */
export async function openCertificates(
  foundations: ControlPlaneCore,
  source: CertificateSource,
): Promise<ServerCertificates | undefined> {
  switch (source.type) {
    case 'off':
      return undefined;
    case 'files':
      return exitOnError(Promise.resolve().then(() => new FileCertificates({ ...foundations, ...source })));
    case 'own':
      return exitOnError(
        retryWhileUnavailable(
          () => SelfIssuedCertificates.open({ ...foundations, names: () => serverNames(source.names) }),
          foundations,
        ),
      );
  }
}
