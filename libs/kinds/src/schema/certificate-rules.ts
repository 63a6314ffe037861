import { X509Certificate } from 'node:crypto';

/** The most certificates of one MeshTrust: each is parsed when it is written. */
export const MOST_CERTIFICATES = 64;

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,64})-----[^-]*-----END \1-----/g;
const CERTIFICATE = 'CERTIFICATE';

/** The certificates of a PEM text as they stand in it; linear in the text. */
export function certificatesIn(pem: string): readonly string[] {
  return [...pem.matchAll(BLOCK)].filter(([, label]) => label === CERTIFICATE).map(([block]) => block);
}

/**
 * Why a PEM text is no bundle of certificate authorities, or undefined if it is: it has certificates, nothing but
 * certificates, and each can be parsed and may sign others (basicConstraints CA). The time is not looked at. The reason
 * never repeats the text, which by mistake may be a key.
 */
export function authorityProblem(pem: string): string | undefined {
  const certificates = certificatesIn(pem);
  const other = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]{1,64})-----/g)].find(([, label]) => label !== CERTIFICATE);
  if (other) return `must have certificates only; got ${other[1] ?? ''}`;
  if (certificates.length === 0) return 'must have a PEM certificate; got none';
  const begun = pem.split(`-----BEGIN ${CERTIFICATE}-----`).length - 1;
  if (begun !== certificates.length) return `certificate ${certificates.length} has no end`;
  for (const [i, block] of certificates.entries()) {
    const problem = certificateProblem(block);
    if (problem !== undefined) return `certificate ${i} ${problem}`;
  }
  return undefined;
}

function certificateProblem(block: string): string | undefined {
  try {
    const certificate = new X509Certificate(block);
    return certificate.ca
      ? undefined
      : `is not of a certificate authority: ${certificate.subject.replaceAll('\n', ', ')}`;
  } catch {
    return 'cannot be parsed';
  }
}
