import { compareIdentities } from '@causeway/resources';
import type { EncodedAnswer } from '../wire/encoded-answer';
import type { DnsName } from '../wire/dns-name';
import type { Apex } from './apex';
import type { TableEntry } from './own-name';
import { sameService, type NamedService, type DnsService } from './named-service';

/** An address and the services that have it (one, but for addresses that another system handed out). */
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
