import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCsr, createWorkloadKey } from '@causeway/identity';
import { TlsSecret } from '@causeway/proto-gen';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { ResourceReader } from '../resources/resource-reader';

/** Name of the secret with a workload's certificate. */
export const IDENTITY_SECRET = 'identity';
/** Name of the secret with the authorities of the mesh. */
export const TRUST_SECRET = 'trust';

/** Certificate that the zone has signed for the key of this machine. */
export interface HeldCertificate {
  /** PEM. */
  readonly chain: string;
  /** SPIFFE id. */
  readonly uri: string;
  /** ms since 1970. */
  readonly notAfter: number;
}

/** Private key of one Dataplane: created on this machine, readable by its owner only, sent nowhere (I13). */
export class WorkloadKeyFile {
  private constructor(
    readonly path: string,
    /** PEM. */
    readonly privateKey: string,
    /** CSR for the key, PEM. */
    readonly csr: string,
  ) {}

  /** Reads or creates the key. Rejects if the folder cannot be written, or the file contains no key. */
  static async open(folder: string): Promise<WorkloadKeyFile> {
    const path = join(folder, 'key.pem');
    const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (kept !== undefined) {
      await chmod(path, 0o600);
      return new WorkloadKeyFile(path, kept, await createCsr(kept));
    }
    const { privateKey, csr } = await createWorkloadKey();
    // Written to a new file first, so that a crash leaves no partial key.
    await writeFile(`${path}.new`, privateKey, { mode: 0o600 });
    await rename(`${path}.new`, path);
    return new WorkloadKeyFile(path, privateKey, csr);
  }

  /** Returns the zone's certificate for this key, even if it has expired; undefined if there is none. */
  findCertificate(cache: Pick<ResourceReader, 'get'>): HeldCertificate | undefined {
    const resource = cache.get(RESOURCE_TYPES.secret, IDENTITY_SECRET);
    if (!resource || resource === 'pending') return undefined;
    const { type } = TlsSecret.decode(resource.bytes);
    const chain = type?.$case === 'tlsCertificate' ? type.value.certificateChain?.specifier : undefined;
    if (chain?.$case !== 'inlineString') return undefined;
    try {
      const certificate = new X509Certificate(chain.value);
      if (!certificate.checkPrivateKey(createPrivateKey(this.privateKey))) return undefined;
      const uri = /^URI:([^,]+)/.exec(certificate.subjectAltName ?? '')?.[1] ?? '';
      return { chain: chain.value, uri, notAfter: Date.parse(certificate.validTo) };
    } catch {
      return undefined;
    }
  }
}
