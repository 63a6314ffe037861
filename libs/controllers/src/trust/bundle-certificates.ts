import { X509Certificate } from 'node:crypto';
import { isJsonArray, isJsonObject, type Resource } from '@causeway/resources';

/** A certificate of an authority that can be believed. */
interface BundleCertificate {
  /** PEM, in one form whatever the form in the bundle. */
  readonly pem: string;
  /** Its end, ms since 1970. */
  readonly notAfter: number;
  /** Where it stands, such as `spec.caBundles[0].pem.value, certificate 1`. */
  readonly at: string;
}

/** The certificates of a MeshTrust: those that can be used, and why the others cannot. */
export interface BundleCertificates {
  readonly usable: readonly BundleCertificate[];
  readonly dropped: readonly { readonly at: string; readonly reason: string }[];
}

/** Certificates of one MeshTrust that are believed; the kind has this bound, what sync brings may have more. */
export const MAX_BELIEVED = 64;

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const BEGIN = '-----BEGIN CERTIFICATE-----';

/** Certificates are parsed once for each stored state. */
const known = new WeakMap<Resource, BundleCertificates>();

/**
 * The certificates of a MeshTrust, whatever sync brought: one that cannot be parsed, that is of no authority, or beyond the 64th is dropped, and the
 * others count. Certificates that have ended are usable: nobody is believed by them. Linear in the bundles.
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

/** The certificates of a bundle in PEM, named from `at` on. Linear in the bundle. */
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
