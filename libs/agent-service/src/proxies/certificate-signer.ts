import type { WorkloadBinding, WorkloadCertificate, WorkloadCertificates } from '@causeway/identity';
import type { Identity } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';

/** Owner of a certificate: a Dataplane, or the zone's egress in one mesh. */
export type CertificateOwner =
  | {
      readonly type: 'dataplane';
      readonly dataplane: Identity;
      /** Binding of the proxy's verified token. */
      readonly binding: WorkloadBinding;
    }
  | { readonly type: 'egress'; readonly mesh: string; readonly zone: string };

/** Signed certificate, and when to renew it, ms since 1970. */
export interface RenewableCertificate extends WorkloadCertificate {
  readonly renewAt: number;
}

export interface CertificateSignerOptions {
  readonly issuer: Pick<WorkloadCertificates, 'issue' | 'issueToEgress'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random?: () => number;
}

/** Renewal begins at this share of the validity, plus a random share: spreads renewals. */
const RENEW_FROM = 0.4;
const RENEW_TO = 0.6;

/** Signs CSRs both for proxies on ADS streams and for callers of `WorkloadCertificateService`. */
export class CertificateSigner {
  /** Number of certificates signed since the start. */
  signed = 0;

  constructor(private readonly options: CertificateSignerOptions) {}

  /** Signs a CSR for a verified owner. Rejects as `WorkloadCertificates.issue` does. */
  async sign(owner: CertificateOwner, csr: string): Promise<RenewableCertificate> {
    const { issuer, clock } = this.options;
    const now = clock.now();
    const certificate = await (owner.type === 'egress'
      ? issuer.issueToEgress({ ...owner, csr })
      : issuer.issue({ ...owner, csr }));
    this.signed += 1;
    return { ...certificate, renewAt: this.renewalTime(now, certificate.notAfter) };
  }

  /** Returns when to renew a certificate signed at `from` that ends at `notAfter`: at 50 % ± 10 % of its validity. */
  renewalTime(from: number, notAfter: number): number {
    const { random = Math.random } = this.options;
    return from + (notAfter - from) * (RENEW_FROM + (RENEW_TO - RENEW_FROM) * random());
  }
}
