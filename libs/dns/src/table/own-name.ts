import type { WireName } from '../wire/wire-name';
import type { Apex } from './apex';

/** A name in the table, and where questions about it have their SOA: found when first asked, anew after `epoch`. */
export interface OwnName {
  readonly name: WireName;
  apex: Apex | undefined;
  apexEpoch: number;
}
