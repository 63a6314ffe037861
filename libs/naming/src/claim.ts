import type { Identity, Labels } from '@causeway/resources';
import type { ParsedGenerator } from './parsed-generator';

/** A service as a store holds it: what of it can make or move a name. */
export interface ServiceSource {
  readonly id: Identity;
  readonly labels: Labels;
  readonly creationOrder: number;
}

/** A service in the table; `labels` is replaced when the service changes. */
export interface Claimant extends ServiceSource {
  readonly key: string;
  labels: Labels;
  creationOrder: number;
  /** Why its names are shown as NotAvailable though it has them; undefined where they are reachable. */
  unreachable: string | undefined;
  /** By the generators' precedence. */
  claims: readonly Claim[];
}

/** One generator wanting one hostname for one service; without a hostname it could not make one. */
export interface Claim {
  readonly service: Claimant;
  readonly generator: ParsedGenerator;
  readonly hostname: string | undefined;
  /** The heap of all claims on the hostname, winner on top; undefined while it is the only one. */
  rivals: Claim[] | undefined;
  /** Where it stands in that heap. */
  slot: number;
}
