import type { DnsName } from '../wire/dns-name';
import type { Apex } from './apex';

/** A name in the table, and where questions about it have their SOA: found when first asked, anew after `epoch`. */
export interface TableEntry {
  readonly name: DnsName;
  apex: Apex | undefined;
  apexVersion: number;
}
