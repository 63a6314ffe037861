import { compareIdentities } from '@causeway/resources';
import type { DnsName } from '../wire/dns-name';
import type { EncodedAnswer } from '../wire/encoded-answer';
import type { Apex } from './authority';
import { sameService, type DnsService, type NamedService } from './named-service';

/** A name in the table. Its apex is looked up at the first query, and again after `apexVersion` changed in the authority. */
export interface TableEntry {
  readonly name: DnsName;
  apex: Apex | undefined;
  apexVersion: number;
}

/** One service that holds a hostname. */
export interface Holder {
  readonly service: DnsService;
  readonly generators: readonly string[];
}

/** Compares two meshes with the same hostname; negative if `a` wins. */
export type MeshOrder = (a: string, b: string) => number;

/** A hostname that some service holds, with its encoded answers. Every change of the entry discards the answers. */
export class HostEntry implements TableEntry {
  /** Holders of the hostname; the first is in the answer. Never empty while the entry is in the table. */
  holders: readonly Holder[] = [];
  apex: Apex | undefined;
  apexVersion = -1;
  a: EncodedAnswer | undefined;
  aaaa: EncodedAnswer | undefined;
  private cachedAnswers: Map<string, EncodedAnswer> | undefined;

  constructor(
    readonly hostname: string,
    readonly name: DnsName,
  ) {}

  /** True if services of several meshes hold this hostname. */
  get contested(): boolean {
    const mesh = this.holders[0]?.service.id.mesh;
    return this.holders.some(({ service }) => service.id.mesh !== mesh);
  }

  /** Adds a holder, or replaces the holder of the same service. */
  add(holder: Holder, order: MeshOrder): void {
    const others = this.holders.filter(({ service }) => !sameService(service, holder.service));
    this.holders = [...others, holder].sort((a, b) => compareHolders(a, b, order));
    this.dropCached();
  }

  remove(gone: DnsService): void {
    this.holders = this.holders.filter(({ service }) => !sameService(service, gone));
    this.dropCached();
  }

  /** Returns the cached answer under `key`; `make` builds it the first time. */
  cached(key: string, make: () => EncodedAnswer): EncodedAnswer {
    const known = this.cachedAnswers?.get(key);
    if (known) return known;
    const made = make();
    this.cachedAnswers ??= new Map();
    this.cachedAnswers.set(key, made);
    return made;
  }

  private dropCached(): void {
    this.a = undefined;
    this.aaaa = undefined;
    this.cachedAnswers = undefined;
  }
}

/** An address and the services that have it: normally one, several if another system assigned the address. */
export class ReverseEntry implements TableEntry {
  named: readonly NamedService[] = [];
  ptr: EncodedAnswer | undefined;
  apex: Apex | undefined;
  apexVersion = -1;

  constructor(
    readonly ip: string,
    readonly name: DnsName,
  ) {}

  add(named: NamedService): void {
    const others = this.named.filter(({ service }) => !sameService(service, named.service));
    this.named = [...others, named].sort((a, b) => compareIdentities(a.service.id, b.service.id));
    this.ptr = undefined;
  }

  remove(gone: DnsService): void {
    this.named = this.named.filter(({ service }) => !sameService(service, gone));
    this.ptr = undefined;
  }
}

function compareHolders(a: Holder, b: Holder, order: MeshOrder): number {
  return order(a.service.id.mesh, b.service.id.mesh) || compareIdentities(a.service.id, b.service.id);
}
