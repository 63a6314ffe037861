import { certificateSource, type CertificateSource } from '@causeway/control-plane';
import type { GlobalSettings } from './config';

/**
 * Returns the source of the certificate for zones; ends the program with one line if settings contradict each other.
 */
export function kdsCertificateSource(settings: GlobalSettings): CertificateSource {
  return certificateSource({
    prefix: 'CAUSEWAY_KDS_TLS',
    tls: settings.CAUSEWAY_KDS_TLS,
    certificateFile: settings.CAUSEWAY_KDS_TLS_CERT_FILE,
    keyFile: settings.CAUSEWAY_KDS_TLS_KEY_FILE,
    names: settings.CAUSEWAY_KDS_TLS_NAMES,
    bindAddress: settings.CAUSEWAY_KDS_BIND_ADDRESS,
  });
}
