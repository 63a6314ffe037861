import { X509Certificate } from 'node:crypto';
import { isJsonArray, isJsonObject, type Resource } from '@causeway/resources';

/** A usable certificate of an authority. */
interface BundleCertificate {
  /** PEM in a canonical form. */
  readonly pem: string;
  /** Its expiry, ms since 1970. */
  readonly notAfter: number;
  /** Its position, such as `spec.caBundles[0].pem.value, certificate 1`. */
  readonly at: string;
}

/** The certificates of a MeshTrust: the usable ones, and why the others are not. */
export interface BundleCertificates {
  readonly usable: readonly BundleCertificate[];
  readonly dropped: readonly { readonly at: string; readonly reason: string }[];
}

/** Maximum number of certificates of one MeshTrust that are used: the limit of the kind; sync may bring more. */
export const MAX_BELIEVED = 64;

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const BEGIN = '-----BEGIN CERTIFICATE-----';

/** Certificates are parsed once for each stored state. */
const known = new WeakMap<Resource, BundleCertificates>();

/**
 * Returns the certificates of a MeshTrust, tolerating anything from sync: one that cannot be parsed, that is not of an authority, or beyond the 64th
 * is dropped, and the others count. Expired certificates are usable: no peer is accepted by them. Linear in the bundles.
 */
export function certificatesOfTrust(trust: Resource): BundleCertificates {
  const before = known.get(trust);
  if (before) return before;
  const { caBundles } = trust.spec;
  const usable: BundleCertificate[] = [];
  const dropped: { readonly at: string; readonly reason: string }[] = [];
  for (const [n, bundle] of (isJsonArray(caBundles) ? caBundles : []).entries()) {
    const pem = isJsonObject(bundle) && isJsonObject(bundle['pem']) ? bundle['pem']['value'] : undefined;
    const found = readBundle(typeof pem === 'string' ? pem : '', `spec.caBundles[${n}].pem.value`);
    usable.push(...found.usable);
    dropped.push(...found.dropped);
  }
  const tooMany = usable.splice(MAX_BELIEVED).map(({ at }) => ({ at, reason: `is beyond the ${MAX_BELIEVED}th` }));
  const certificates = { usable, dropped: [...dropped, ...tooMany] };
  known.set(trust, certificates);
  return certificates;
}

/** Returns the certificates of a PEM bundle, with positions that start with `at`. Linear in the bundle. */
export function readBundle(bundle: string, at: string): BundleCertificates {
  const blocks = bundle.match(BLOCK) ?? [];
  const usable: BundleCertificate[] = [];
  const dropped: { readonly at: string; readonly reason: string }[] = [];
  for (const [n, block] of blocks.entries()) {
    const place = `${at}, certificate ${n}`;
    const read = readCertificate(block);
    if (typeof read === 'string') dropped.push({ at: place, reason: read });
    else usable.push({ ...read, at: place });
  }
  if (blocks.length === 0) dropped.push({ at, reason: 'has no certificate' });
  else if (bundle.split(BEGIN).length - 1 > blocks.length)
    dropped.push({ at, reason: 'has a certificate without an end' });
  return { usable, dropped };
}

function readCertificate(block: string): Omit<BundleCertificate, 'at'> | string {
  try {
    const certificate = new X509Certificate(block);
    if (!certificate.ca) return 'is not of a certificate authority';
    return { pem: certificate.toString(), notAfter: Date.parse(certificate.validTo) };
  } catch {
    return 'cannot be parsed';
  }
}
