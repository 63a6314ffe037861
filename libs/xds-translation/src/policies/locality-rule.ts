import type { LoadBalancingSpec } from '@causeway/policies';

/** The locality part of a LoadBalancingPolicy: the zones that may serve. */
export type LocalitySpec = NonNullable<LoadBalancingSpec['locality']>;

/** A zone with endpoints of a destination, as the proxies of one zone see it. */
export interface ServingZone {
  readonly zone: string;
  readonly isLocal: boolean;
  readonly depreferred: boolean;
  readonly instances: number;
}

/** The rank and weight of a zone's endpoints. */
export interface ZoneLocality {
  /** Zones of the lowest rank get all traffic; the next rank gets what these cannot serve. */
  readonly rank: number;
  /** The share of the zone among those of its rank; 0: no traffic. */
  readonly weight: number;
}

/** A rank above those of any list of zones. */
const DEPREFERRED = 1_000;

/**
 * Returns the locality of a zone: by default the own zone first, then the others, weighted by their instances. Depreferred zones come after all
 * others, whatever a policy sets.
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

/** Reports whether zones of one rank share traffic by their weights, rather than all endpoints equally. */
export function sharesByZone(spec: LocalitySpec | undefined): boolean {
  return spec?.weights !== undefined || spec?.localFirst === false;
}

/** Reports whether a policy excludes a zone from traffic. */
export function isExcluded(zone: string, spec: LocalitySpec | undefined): boolean {
  return spec?.weights?.[zone] === 0;
}
