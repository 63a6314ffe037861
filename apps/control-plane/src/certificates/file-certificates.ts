import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { CertifiedKey, ServerCertificates } from '@causeway/access';
import { splitCertificates } from '@causeway/identity';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import type { SettingsReload } from '../settings/settings-reload';

/** Files of the operator's own certificate. */
export interface CertificateFiles {
  /** PEM: the certificate, then intermediate certificates. */
  readonly certificateFile: string;
  /** PEM of the private key. */
  readonly keyFile: string;
}

/** Files and dependencies of `FileCertificates`. */
export interface FileCertificateOptions extends CertificateFiles {
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  /** Triggers reading the files again. */
  readonly reload: Pick<SettingsReload, 'onCheck'>;
}

/**
 * A certificate from files. A replaced pair is used without a restart once key and certificate match; an expired
 * certificate does not replace a valid one.
 */
export class FileCertificates implements ServerCertificates {
  private readonly listeners = new Set<() => void>();
  private readonly stop: () => void;
  private shown: CertifiedKey;
  private lastFault = '';

  /** Throws if the files cannot be read or key and certificate do not match. */
  constructor(private readonly options: FileCertificateOptions) {
    this.shown = readPair(options);
    this.stop = options.reload.onCheck(() => this.read());
  }

  current(): CertifiedKey {
    return this.shown;
  }

  authority(): string | undefined {
    const last = splitCertificates(this.shown.certificate).at(-1);
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
    this.stop();
  }

  /** Reads the files. A pair that does not match is being replaced, or a mistake: the certificate in use stays. */
  private read(): void {
    const { logger, certificateFile, clock } = this.options;
    try {
      const pair = readPair(this.options);
      const isSame = pair.certificate === this.shown.certificate && pair.privateKey === this.shown.privateKey;
      if (!isSame && readEndTime(pair) <= clock.now() && readEndTime(this.shown) > clock.now())
        throw new Error(
          `the certificate in ${certificateFile} has ended at ${new Date(readEndTime(pair)).toISOString()}`,
        );
      this.lastFault = '';
      if (isSame) return;
      this.shown = pair;
      logger.info('a server certificate was replaced', { certificateFile });
      for (const listener of this.listeners) listener();
    } catch (error) {
      const fault = errorText(error);
      if (fault !== this.lastFault)
        logger.error('a replaced server certificate was refused, the former one stays in use', {
          certificateFile,
          reason: fault,
        });
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
    // Refuses chains that a server cannot use: X509Certificate reads only the first certificate.
    if (fits) createSecureContext({ cert: certificate, key: privateKey });
  } catch (cause) {
    throw new Error(`${certificateFile} and ${keyFile} must hold a certificate and its key in PEM`, { cause });
  }
  if (!fits) throw new Error(`the key in ${keyFile} is not that of the certificate in ${certificateFile}`);
  return { certificate, privateKey };
}

/** Returns the expiry, ms since 1970. */
function readEndTime({ certificate }: CertifiedKey): number {
  return Date.parse(new X509Certificate(certificate).validTo);
}

function isSelfSigned(pem: string): boolean {
  const certificate = new X509Certificate(pem);
  return certificate.checkIssued(certificate);
}
