import { compareIdentities } from '@causeway/resources';
import type { FinishedAnswer } from '../answer/finished-answer';
import type { WireName } from '../wire/wire-name';
import type { Apex } from './apex';
import type { OwnName } from './own-name';
import { sameService, type NamedService, type ServiceFacts } from './service-facts';

/** An address and the services that have it (one, but for addresses that another system handed out). */
export class ReverseEntry implements OwnName {
  named: readonly NamedService[] = [];
  ptr: FinishedAnswer | undefined;
  apex: Apex | undefined;
  apexEpoch = -1;

  constructor(
    readonly ip: string,
    readonly name: WireName,
  ) {}

  add(named: NamedService): void {
    const others = this.named.filter(({ service }) => !sameService(service, named.service));
    this.named = [...others, named].sort((a, b) => compareIdentities(a.service.id, b.service.id));
    this.ptr = undefined;
  }

  remove(gone: ServiceFacts): void {
    this.named = this.named.filter(({ service }) => !sameService(service, gone));
    this.ptr = undefined;
  }
}
