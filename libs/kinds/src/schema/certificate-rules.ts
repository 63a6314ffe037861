import { X509Certificate } from 'node:crypto';

/** Maximum number of certificates in one MeshTrust; each is parsed on every write. */
export const MAX_CERTIFICATES = 64;

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,64})-----[^-]*-----END \1-----/g;
const CERTIFICATE = 'CERTIFICATE';

/** Returns the certificates of a PEM text in order; linear in the text. */
export function splitCertificates(pem: string): readonly string[] {
  return [...pem.matchAll(BLOCK)].filter(([, label]) => label === CERTIFICATE).map(([block]) => block);
}

/** Blocks of a PEM text, split by relevance. */
export interface PemBlocks {
  /** The relevant blocks, each on lines of its own; empty if there are none. */
  readonly pem: string;
  readonly count: number;
  /** The labels of the other blocks, each once. */
  readonly others: readonly string[];
}

/** Extracts the certificates of a PEM text, without keys and text between blocks. Linear in the text. */
export function certificateBlocks(text: string): PemBlocks {
  return readPemBlocks(text, (label) => label === CERTIFICATE);
}

/** Extracts the unencrypted private keys of a PEM text. Linear in the text. */
export function privateKeyBlocks(text: string): PemBlocks {
  return readPemBlocks(text, (label) => KEYS.includes(label));
}

const KEYS: readonly string[] = ['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY'];
const BODY = /^[A-Za-z0-9+/=\s]+$/;

function readPemBlocks(text: string, isWanted: (label: string) => boolean): PemBlocks {
  const found = [...text.matchAll(BLOCK)].flatMap(([block, label = '']) => {
    const body = block.slice(label.length + '-----BEGIN -----'.length, -(label.length + '-----END -----'.length));
    return isWanted(label) && BODY.test(body) ? [block] : [];
  });
  const labels = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]{1,64})-----/g)].map(([, label = '']) => label);
  return {
    pem: found.map((block) => `${block}\n`).join(''),
    count: found.length,
    others: [...new Set(labels)].filter((label) => !isWanted(label)),
  };
}

/**
 * Returns why a PEM text is not a bundle of certificate authorities; undefined if it is: it contains at least one
 * certificate and nothing else, and each can be parsed and may sign others (basicConstraints CA). Validity periods are
 * not checked. The reason never repeats the text, which could be a key.
 */
export function authorityProblem(pem: string): string | undefined {
  const certificates = splitCertificates(pem);
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
