import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CertifiedKey, ServerCertificates } from '@causeway/access';
import { errorText, type Clock, type Logger, type Timer } from '@causeway/runtime';

/** Where an operator's own certificate is. */
export interface CertificateFiles {
  /** PEM: the certificate, then those between it and its authority. */
  readonly certificateFile: string;
  /** PEM. */
  readonly keyFile: string;
}

/** What reading them over and over takes. */
export interface FileCertificateOptions extends CertificateFiles {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Looked at by content, not by events: mounted secrets are replaced by links that no watch follows, ms. */
const LOOK_EVERY = 5_000;

/** A certificate from files; a pair that was replaced and fits together is shown from then on, without a restart. */
export class FileCertificates implements ServerCertificates {
  private readonly listeners = new Set<() => void>();
  private timer: Timer | undefined;
  private shown: CertifiedKey;
  private lastFault = '';

  /** Throws when the files cannot be read or do not fit together. */
  constructor(private readonly options: FileCertificateOptions) {
    this.shown = readPair(options);
    this.look();
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

  private look(): void {
    this.timer = this.options.clock.after(LOOK_EVERY, () => {
      this.read();
      this.look();
    });
  }

  /** A pair that does not fit together is one that is just being replaced, or a mistake: the shown one stays. */
  private read(): void {
    const { logger, certificateFile } = this.options;
    try {
      const pair = readPair(this.options);
      this.lastFault = '';
      if (pair.certificate === this.shown.certificate && pair.privateKey === this.shown.privateKey) return;
      this.shown = pair;
      logger.info('the certificate for zones was replaced', { certificateFile });
      for (const listener of this.listeners) listener();
    } catch (error) {
      const fault = errorText(error);
      if (fault !== this.lastFault) logger.error('the certificate for zones stays as it was', { reason: fault });
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
