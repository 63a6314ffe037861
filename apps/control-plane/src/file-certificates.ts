import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CertifiedKey, ServerCertificates } from '@causeway/access';
import { errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';

/** Files of the operator's own certificate. */
export interface CertificateFiles {
  /** PEM: the certificate, then the intermediate ones. */
  readonly certificateFile: string;
  /** PEM. */
  readonly keyFile: string;
}

/** Files and dependencies of `FileCertificates`. */
export interface FileCertificateOptions extends CertificateFiles {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval of the checks, ms. Files are read again, not watched: mounted secrets are symbolic links that are swapped. */
const CHECK_INTERVAL = 5_000;

/** A certificate from files. A replaced pair is used without a restart once key and certificate match. */
export class FileCertificates implements ServerCertificates {
  private readonly listeners = new Set<() => void>();
  private timer: Timer | undefined;
  private shown: CertifiedKey;
  private lastFault = '';

  /** Throws if the files cannot be read or key and certificate do not match. */
  constructor(private readonly options: FileCertificateOptions) {
    this.shown = readPair(options);
    this.scheduleCheck();
  }

  current(): CertifiedKey {
    return this.shown;
  }

  authority(): string | undefined {
    const last = chainOf(this.shown.certificate).at(-1);
    return last !== undefined && isSelfSigned(last) ? `${last}\n` : undefined;
  }

  fault(): string | undefined {
    return this.lastFault === '' ? undefined : this.lastFault;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  close(): void {
    this.timer?.cancel();
  }

  private scheduleCheck(): void {
    this.timer = this.options.clock.after(CHECK_INTERVAL, () => {
      this.read();
      this.scheduleCheck();
    });
  }

  /** A pair that does not match is being replaced, or a mistake: the certificate in use stays. */
  private read(): void {
    const { logger, certificateFile } = this.options;
    try {
      const pair = readPair(this.options);
      this.lastFault = '';
      if (pair.certificate === this.shown.certificate && pair.privateKey === this.shown.privateKey) return;
      this.shown = pair;
      logger.info('a server certificate was replaced', { certificateFile });
      for (const listener of this.listeners) listener();
    } catch (error) {
      const fault = errorText(error);
      if (fault !== this.lastFault)
        logger.error('a server certificate stays as it was', { certificateFile, reason: fault });
      this.lastFault = fault;
    }
  }
}

function readPair({ certificateFile, keyFile }: CertificateFiles): CertifiedKey {
  const certificate = readFileSync(certificateFile, 'utf8');
  const privateKey = readFileSync(keyFile, 'utf8');
  let fits: boolean;
  try {
    fits = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey));
  } catch (cause) {
    throw new Error(`${certificateFile} and ${keyFile} must hold a certificate and its key in PEM`, { cause });
  }
  if (!fits) throw new Error(`the key in ${keyFile} is not that of the certificate in ${certificateFile}`);
  return { certificate, privateKey };
}

function chainOf(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

function isSelfSigned(pem: string): boolean {
  const certificate = new X509Certificate(pem);
  return certificate.checkIssued(certificate);
}
