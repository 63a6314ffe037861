import type { WorkloadBinding, WorkloadCertificate, WorkloadCertificates } from '@causeway/identity';
import type { Identity } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';

/** The owner of a certificate: a Dataplane, or the zone's egress in one mesh. */
export type CertificateOwner =
  | {
      readonly type: 'dataplane';
      readonly dataplane: Identity;
      /** The binding of the proxy's verified token. */
      readonly binding: WorkloadBinding;
    }
  | { readonly type: 'egress'; readonly mesh: string; readonly zone: string };

/** A signed certificate, and when to ask for the next one, ms since 1970. */
export interface RenewableCertificate extends WorkloadCertificate {
  readonly renewAt: number;
}

export interface CertificateSignerOptions {
  readonly issuer: Pick<WorkloadCertificates, 'issue' | 'issueToEgress'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random?: () => number;
}

/** Renewal in this part of the validity, so that certificates signed together are not renewed together. */
const RENEW_FROM = 0.4;
const RENEW_TO = 0.6;

/** The one way from a CSR to a certificate, for proxies on ADS streams and for callers of `WorkloadCertificateService` alike. */
export class CertificateSigner {
  /** Certificates signed since the start. */
  signed = 0;

  constructor(private readonly options: CertificateSignerOptions) {}

  /** Signs a CSR for an owner that was verified. Rejects as `WorkloadCertificates.issue` does. */
  async sign(owner: CertificateOwner, csr: string): Promise<RenewableCertificate> {
    const { issuer, clock } = this.options;
    const now = clock.now();
    const certificate = await (owner.type === 'egress'
      ? issuer.issueToEgress({ ...owner, csr })
      : issuer.issue({ ...owner, csr }));
    this.signed += 1;
    return { ...certificate, renewAt: this.renewalTime(now, certificate.notAfter) };
  }

  /** Returns when a certificate signed at `from` that ends at `notAfter` is to be renewed: at 50 % ± 10 % of its validity. */
  renewalTime(from: number, notAfter: number): number {
    const { random = Math.random } = this.options;
    return from + (notAfter - from) * (RENEW_FROM + (RENEW_TO - RENEW_FROM) * random());
  }
}
