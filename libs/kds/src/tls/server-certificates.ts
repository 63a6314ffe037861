import type { CertifiedKey } from './x509';

/** The certificate that a server shows, which may be replaced while it runs. */
export interface ServerCertificates {
  /** Chain and key to show now. */
  current(): CertifiedKey;
  /** PEM of what a zone has to trust; undefined where whoever issued the certificate has to be asked. */
  authority(): string | undefined;
  /** Why another certificate is shown than the operator gave; undefined while all is well. */
  fault(): string | undefined;
  /** Calls `listener` after each replacement, until the returned function is called. */
  onChange(listener: () => void): () => void;
  close(): void;
}
