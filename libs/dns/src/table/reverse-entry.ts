import type { FinishedAnswer } from '../answer/finished-answer';
import type { WireName } from '../wire/wire-name';
import type { Apex } from './apex';
import type { OwnName } from './own-name';
import type { ServiceFacts } from './service-facts';

/** An address and the services that have it (one, but for addresses that another system handed out). */
export class ReverseEntry implements OwnName {
  services: readonly ServiceFacts[] = [];
  ptr: FinishedAnswer | undefined;
  apex: Apex | undefined;
  apexEpoch = -1;

  constructor(
    readonly ip: string,
    readonly name: WireName,
  ) {}

  add(service: ServiceFacts): void {
    this.services = [...this.services.filter(({ key }) => key !== service.key), service];
    this.ptr = undefined;
  }

  remove(serviceKey: string): void {
    this.services = this.services.filter(({ key }) => key !== serviceKey);
    this.ptr = undefined;
  }
}
