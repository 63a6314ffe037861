import type { EncodedResource } from '../resources/encoded-resource';
import type { AdsForm } from './ads-messages';

type SentVersion = Pick<EncodedResource, 'name' | 'version'>;

/** The resources of one type that were last sent to a proxy, acknowledged or not; only the versions of those that it had before its stream began. */
export class SentResources {
  private readonly byName = new Map<string, SentVersion | EncodedResource>();
  /** The sum of all versions. */
  private sum = 0n;

  constructor(private readonly form: AdsForm) {}

  get size(): number {
    return this.byName.size;
  }

  /** In state of the world: one version for all resources, equal for equal names and contents. */
  get version(): string {
    return this.sum.toString(16);
  }

  get(name: string): SentVersion | EncodedResource | undefined {
    return this.byName.get(name);
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  names(): readonly string[] {
    return [...this.byName.keys()];
  }

  /** Returns the resources whose content is known and can be sent again. */
  whole(): readonly EncodedResource[] {
    return [...this.byName.values()].filter((held): held is EncodedResource => 'bytes' in held);
  }

  hold(resource: SentVersion | EncodedResource): void {
    this.release(resource.name);
    this.byName.set(resource.name, resource);
    if (this.form === 'sotw') this.sum = BigInt.asUintN(64, this.sum + hashed(resource.version));
  }

  release(name: string): void {
    const held = this.byName.get(name);
    if (!held) return;
    this.byName.delete(name);
    if (this.form === 'sotw') this.sum = BigInt.asUintN(64, this.sum - hashed(held.version));
  }
}

/** Reports whether a cluster that was sent to a proxy uses EDS; false for resources from before its stream, whose content is unknown. */
export function discoversEndpoints(held: SentVersion | EncodedResource): boolean {
  return 'endpointsName' in held && held.endpointsName !== undefined;
}

/** Returns the combined version of these resources. */
export function fingerprint(resources: Iterable<SentVersion>): string {
  let sum = 0n;
  for (const { version } of resources) sum = BigInt.asUintN(64, sum + hashed(version));
  return sum.toString(16);
}

/** Hashes a version. Versions of our encoder are 64 bits in hexadecimal; others are mixed by FNV-1a. */
function hashed(version: string): bigint {
  if (/^[0-9a-f]{16}$/.test(version)) return BigInt(`0x${version}`);
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(version)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
