import { compareIdentities } from '@causeway/resources';
import type { EncodedAnswer } from '../wire/encoded-answer';
import type { DnsName } from '../wire/dns-name';
import type { Apex } from './apex';
import type { TableEntry } from './own-name';
import { sameService, type DnsService } from './named-service';

/** One service that holds a hostname. */
export interface Holder {
  readonly service: DnsService;
  readonly generators: readonly string[];
}

/** Which of two meshes is asked first; negative for `a`. */
export type MeshOrder = (a: string, b: string) => number;

/** A hostname that some service holds, and the finished answers about it, which die with any change of it. */
export class HostEntry implements TableEntry {
  /** The first one answers; never empty while the entry is in the table. */
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

  /** True when more than one mesh has this hostname. */
  get contested(): boolean {
    const mesh = this.holders[0]?.service.id.mesh;
    return this.holders.some(({ service }) => service.id.mesh !== mesh);
  }

  add(holder: Holder, order: MeshOrder): void {
    const others = this.holders.filter(({ service }) => !sameService(service, holder.service));
    this.holders = [...others, holder].sort((a, b) => compareHolders(a, b, order));
    this.dropCached();
  }

  remove(gone: DnsService): void {
    this.holders = this.holders.filter(({ service }) => !sameService(service, gone));
    this.dropCached();
  }

  /** A finished answer about something under this name, made at most once. */
  cached(what: string, make: () => EncodedAnswer): EncodedAnswer {
    const known = this.cachedAnswers?.get(what);
    if (known) return known;
    const made = make();
    this.cachedAnswers ??= new Map();
    this.cachedAnswers.set(what, made);
    return made;
  }

  private dropCached(): void {
    this.a = undefined;
    this.aaaa = undefined;
    this.cachedAnswers = undefined;
  }
}

function compareHolders(a: Holder, b: Holder, order: MeshOrder): number {
  return order(a.service.id.mesh, b.service.id.mesh) || compareIdentities(a.service.id, b.service.id);
}
