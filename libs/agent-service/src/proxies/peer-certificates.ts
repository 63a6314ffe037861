import { X509Certificate } from 'node:crypto';
import { Unauthenticated } from '@causeway/access';
import { splitCertificates } from '@causeway/identity';
import { shortened } from '@causeway/resources';
import { BoundedMap, type Clock } from '@causeway/runtime';
import type { TrustDomain } from '@causeway/xds-translation';

export interface PeerCertificatesOptions {
  /** Returns the authorities that workloads of a mesh trust. */
  readonly trust: (mesh: string) => readonly TrustDomain[];
  readonly isRevoked: (mesh: string, uri: string) => boolean;
  readonly clock: Pick<Clock, 'now'>;
}

/** Owner of a certificate, verified by an authority of the mesh. */
export interface VerifiedPeer {
  /** SPIFFE id. */
  readonly uri: string;
  /** Uid of the enrolment; absent in certificates of older versions and in other zones' forms. */
  readonly enrolment?: string;
  /** ms since 1970. */
  readonly expiresAt: number;
}

interface LeafCertificate {
  /** SPIFFE id. */
  readonly uri: string | undefined;
  readonly enrolment: string | undefined;
  /** ms since 1970. */
  readonly from: number;
  readonly until: number;
  /** Bundle whose authority signed it, as last verified. */
  signedBy: string | undefined;
}

const MAX_BUNDLES = 64;
/** Tolerance for certificates that are not yet valid because a clock was corrected, ms. */
const CLOCK_TOLERANCE = 60_000;

/**
 * Verifies workload certificates that callers present instead of a token, as the mesh does (docs/design.md §10): one
 * SPIFFE id, signed by an authority of its trust domain, within its validity, not revoked.
 */
export class PeerCertificates {
  /** Parsed authorities by bundle text, cached: parsing takes longer than a signature. */
  private readonly authorities = new BoundedMap<readonly X509Certificate[]>(MAX_BUNDLES);
  /** Parsed certificates of open connections. */
  private readonly leaves = new WeakMap<X509Certificate, LeafCertificate>();

  constructor(private readonly options: PeerCertificatesOptions) {}

  /** Throws Unauthenticated with the reason. */
  verify(certificate: X509Certificate, mesh: string): VerifiedPeer {
    const { trust, isRevoked, clock } = this.options;
    const leaf = this.readLeaf(certificate);
    const { uri } = leaf;
    if (uri === undefined) throw refused('has not exactly one SPIFFE id');
    const domain = /^spiffe:\/\/([^/]+)/.exec(uri)?.[1];
    const trusted = trust(mesh).find(({ name }) => name === domain);
    if (!trusted) throw refused(`is of trust domain ${domain}, which mesh ${shortened(mesh, 200)} does not trust`);
    if (!this.isSigned(certificate, leaf, trusted.pem))
      throw refused(`is not signed by an authority of trust domain ${domain}`);
    const { from, until } = leaf;
    const now = clock.now();
    if (now < from - CLOCK_TOLERANCE) throw refused(`holds from ${new Date(from).toISOString()} on`);
    if (now >= until) throw refused(`has ended ${new Date(until).toISOString()}`);
    if (isRevoked(mesh, uri)) throw refused(`${uri} is revoked by the settings of the mesh`);
    return { uri, expiresAt: until, ...(leaf.enrolment !== undefined && { enrolment: leaf.enrolment }) };
  }

  private readLeaf(certificate: X509Certificate): LeafCertificate {
    const known = this.leaves.get(certificate);
    if (known) return known;
    const [from, until] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    const [uri, enrolment] = [findSpiffeId(certificate), enrolmentIn(certificate)];
    const leaf: LeafCertificate = { uri, enrolment, from, until, signedBy: undefined };
    this.leaves.set(certificate, leaf);
    return leaf;
  }

  /** Returns whether an authority of this bundle signed the certificate; verified once per connection and bundle. */
  private isSigned(certificate: X509Certificate, leaf: LeafCertificate, pem: string): boolean {
    if (leaf.signedBy === pem) return true;
    if (certificate.ca || !this.authoritiesIn(pem).some((authority) => isSignedBy(certificate, authority)))
      return false;
    leaf.signedBy = pem;
    return true;
  }

  private authoritiesIn(pem: string): readonly X509Certificate[] {
    const known = this.authorities.get(pem);
    if (known) return known;
    const read = splitCertificates(pem).flatMap((text) => authorityIn(text) ?? []);
    this.authorities.set(pem, read);
    return read;
  }
}

function authorityIn(pem: string): X509Certificate | undefined {
  try {
    const authority = new X509Certificate(pem);
    return authority.ca ? authority : undefined;
  } catch {
    return undefined;
  }
}

function findSpiffeId({ subjectAltName = '' }: X509Certificate): string | undefined {
  return /^URI:(spiffe:\/\/[^/,"\s]+\/[^,"\s]+)$/.exec(subjectAltName)?.[1];
}

function enrolmentIn({ subject = '' }: X509Certificate): string | undefined {
  return /^CN=([0-9a-f-]{36})$/.exec(subject)?.[1];
}

function isSignedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  try {
    return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
  } catch {
    return false;
  }
}

function refused(reason: string): Unauthenticated {
  return new Unauthenticated(`the client certificate ${reason}`);
}
