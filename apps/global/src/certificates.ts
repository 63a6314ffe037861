import { fail, orFail, type Foundations } from '@causeway/control-plane';
import { FileCertificates, OwnCertificates, serverNames, type ServerCertificates } from '@causeway/sync-kds';
import type { GlobalSettings } from './config';

/**
 * The certificate that zones see: the operator's files, else one of our own authority; undefined where TLS is off.
 * Settings or files that do not fit together end the program with one line.
 */
export async function openCertificates(
  foundations: Foundations,
  settings: GlobalSettings,
): Promise<ServerCertificates | undefined> {
  const { CAUSEWAY_KDS_TLS_CERT_FILE: certificateFile, CAUSEWAY_KDS_TLS_KEY_FILE: keyFile } = settings;
  const given = certificateFile !== undefined || keyFile !== undefined;
  if (settings.CAUSEWAY_KDS_TLS === 'off') {
    return given
      ? fail(['CAUSEWAY_KDS_TLS_CERT_FILE and _KEY_FILE say nothing where CAUSEWAY_KDS_TLS is off'])
      : undefined;
  }
  if (certificateFile !== undefined && keyFile !== undefined) {
    const files = { ...foundations, certificateFile, keyFile };
    return orFail(Promise.resolve().then(() => new FileCertificates(files)));
  }
  if (given) return fail(['CAUSEWAY_KDS_TLS_CERT_FILE and CAUSEWAY_KDS_TLS_KEY_FILE must be given together']);
  const bound = settings.CAUSEWAY_KDS_BIND_ADDRESS;
  const configured = [
    ...settings.CAUSEWAY_KDS_TLS_NAMES,
    ...(bound === undefined || ['0.0.0.0', '::'].includes(bound) ? [] : [bound]),
  ];
  return orFail(OwnCertificates.open({ ...foundations, names: () => serverNames(configured) }));
}
