import type { LoadBalancingSpec } from '@causeway/policies';

/** The zones that may serve. */
export type LocalitySpec = NonNullable<LoadBalancingSpec['locality']>;

/** A zone with endpoints of a destination, as the proxies of one zone see it. */
export interface ServingZone {
  readonly zone: string;
  readonly isLocal: boolean;
  readonly depreferred: boolean;
  readonly instances: number;
}

/** The place of a zone's endpoints among those of all zones. */
export interface ZoneLocality {
  /** Of the zones of the lowest rank all get something; those of the next as far as these cannot. */
  readonly rank: number;
  /** The share of the zone among those of its rank; 0: it gets nothing. */
  readonly weight: number;
}

/** More than a list of zones has. */
const DEPREFERRED = 1_000;

/**
 * Where a zone stands: by default the own zone first, then the others, by their instances; zones that are depreferred come after
 * all others, whatever a policy says.
 */
export function computeLocality(
  { zone, isLocal, depreferred, instances }: ServingZone,
  spec: LocalitySpec = {},
): ZoneLocality {
  const { weights, failover = [], localFirst = true } = spec;
  const weight = weights ? (weights[zone] ?? 1) : instances;
  if (isLocal && localFirst) return { rank: 0, weight };
  const listed = failover.indexOf(zone);
  const rank = 1 + (listed < 0 ? failover.length : listed);
  return { rank: depreferred ? rank + DEPREFERRED : rank, weight };
}

/** Whether the zones of one rank share by their weights, rather than all endpoints by their number. */
export function sharesByZone(spec: LocalitySpec | undefined): boolean {
  return spec?.weights !== undefined || spec?.localFirst === false;
}

/** Whether a policy wants nothing sent to a zone. */
export function isExcluded(zone: string, spec: LocalitySpec | undefined): boolean {
  return spec?.weights?.[zone] === 0;
}
