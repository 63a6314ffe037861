import { compareIdentities } from '@causeway/resources';
import type { FinishedAnswer } from '../answer/finished-answer';
import type { WireName } from '../wire/wire-name';
import type { Apex } from './apex';
import type { OwnName } from './own-name';
import { sameService, type ServiceFacts } from './service-facts';

/** One service that holds a hostname. */
export interface Holder {
  readonly service: ServiceFacts;
  readonly generators: readonly string[];
}

/** Which of two meshes is asked first; negative for `a`. */
export type MeshOrder = (a: string, b: string) => number;

/** A hostname that some service holds, and the finished answers about it, which die with any change of it. */
export class HostEntry implements OwnName {
  /** The first one answers; never empty while the entry is in the table. */
  holders: readonly Holder[] = [];
  apex: Apex | undefined;
  apexEpoch = -1;
  a: FinishedAnswer | undefined;
  aaaa: FinishedAnswer | undefined;
  private others: Map<string, FinishedAnswer> | undefined;

  constructor(
    readonly hostname: string,
    readonly name: WireName,
  ) {}

  /** True when more than one mesh has this hostname. */
  get contested(): boolean {
    const mesh = this.holders[0]?.service.id.mesh;
    return this.holders.some(({ service }) => service.id.mesh !== mesh);
  }

  add(holder: Holder, order: MeshOrder): void {
    const others = this.holders.filter(({ service }) => !sameService(service, holder.service));
    this.holders = [...others, holder].sort((a, b) => compareHolders(a, b, order));
    this.forget();
  }

  remove(gone: ServiceFacts): void {
    this.holders = this.holders.filter(({ service }) => !sameService(service, gone));
    this.forget();
  }

  /** A finished answer about something under this name, made at most once. */
  finished(what: string, make: () => FinishedAnswer): FinishedAnswer {
    const known = this.others?.get(what);
    if (known) return known;
    const made = make();
    this.others ??= new Map();
    this.others.set(what, made);
    return made;
  }

  private forget(): void {
    this.a = undefined;
    this.aaaa = undefined;
    this.others = undefined;
  }
}

function compareHolders(a: Holder, b: Holder, order: MeshOrder): number {
  return order(a.service.id.mesh, b.service.id.mesh) || compareIdentities(a.service.id, b.service.id);
}
