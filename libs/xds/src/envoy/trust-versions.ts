import { authorityIdsOf } from '@causeway/identity';
import type { EncodedResource } from '../resources/encoded-resource';
import type { TrustDomain } from '../model/trust-domains';

/** Versions that are remembered: of each mesh the latest few. */
const MOST_VERSIONS = 1_000;

/** Which authorities the trust secrets hold that were served lately, by version: proxies ack versions. */
export class TrustVersions {
  private readonly byVersion = new Map<string, readonly string[]>();

  /** A secret with these domains was served. */
  served({ version }: EncodedResource, domains: readonly TrustDomain[]): void {
    if (this.byVersion.has(version)) return;
    this.byVersion.set(version, [...new Set(domains.flatMap(({ pem }) => authorityIdsOf(pem)))].sort());
    const [oldest] = this.byVersion.keys();
    if (this.byVersion.size > MOST_VERSIONS && oldest !== undefined) this.byVersion.delete(oldest);
  }

  /** The ids of authorities, sorted; undefined for a version that was not served lately. */
  of(version: string): readonly string[] | undefined {
    return this.byVersion.get(version);
  }
}
