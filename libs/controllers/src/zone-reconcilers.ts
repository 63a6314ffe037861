import { planRanges } from '@causeway/ipam';
import type { Meshes } from '@causeway/meshes';
import type { ControlPlane } from '@causeway/resources';
import { AvailabilityReconciler } from './availability/availability-reconciler';
import { WorkloadIds } from './availability/workload-ids';
import { HostnameReconciler } from './hostname/hostname-reconciler';
import { MultizoneReconciler } from './multizone/multizone-reconciler';
import { AbandonedDataplanesReconciler, type AbandonedDataplanesOptions } from './proxies/abandoned-dataplanes';
import { IngressHealthReconciler } from './proxies/ingress-health';
import { createProxyConditionsLoop } from './proxies/proxy-conditions';
import type { ProxyDirectory } from './proxies/proxy-directory';
import { KeyedLoop, type ControlLoop } from '@causeway/loops';
import { ServicesReconciler } from './services/services-reconciler';
import type { PoolReport } from './vip/vip-allocator';
import { VipReconciler, type VipConfig } from './vip/vip-reconciler';

/** Settings of the control loops of a zone. */
export interface ZoneReconcilersConfig {
  readonly cp: ControlPlane;
  /** Address range by kind of service: `{MeshService: '241.0.0.0/8', …}`; an omitted kind gets no addresses. */
  readonly ranges: Readonly<Record<string, string>>;
  /** Whether to accept ranges that are neither private nor reserved. */
  readonly forceRanges?: boolean;
  /** The time for which a freed address is given to no other service, ms; default 60 s. */
  readonly cooldown?: number;
  /** The time for which a generated service without Dataplanes is kept, ms; default 1 h. */
  readonly grace?: number;
  /** Called for a Dataplane (index key) that names a service with an invalid name. */
  readonly onUnusableName?: (dataplane: string, service: string) => void;
  /** The state of each mesh here; without it every mesh that has a Mesh is served, with the zone's settings. */
  readonly meshes?: Meshes;
  /** See VipConfig. */
  readonly leastCooldown?: number;
  /** The proxies of the zone, if it serves any. */
  readonly proxies?: ProxyDirectory;
  /** The time for which a registered Dataplane is kept while no replica has a stream of its proxy, ms; default 15 min. */
  readonly abandonedAfter?: number;
  /** Called when many registered Dataplanes are without a proxy, and none is removed. */
  readonly onHeld?: NonNullable<AbandonedDataplanesOptions['onHeld']>;
  /** See VipConfig. */
  readonly ackWatermark?: NonNullable<VipConfig['ackWatermark']>;
  /** See VipConfig. */
  readonly waitedFor?: NonNullable<VipConfig['waitedFor']>;
  readonly onExhausted?: NonNullable<VipConfig['onExhausted']>;
  readonly onRaisedCooldown?: NonNullable<VipConfig['onRaisedCooldown']>;
}

/**
 * Creates the control loops of a zone, each after those whose writes it reads (docs/design.md §4). Throws with every reason if the address ranges
 * contradict each other: check them with `planRanges` at start-up, which also warns.
 */
export function createZoneReconcilers(config: ZoneReconcilersConfig): ControlLoop[] {
  const { cp, cooldown = 60_000, grace = 3_600_000, onUnusableName, meshes, proxies, ackWatermark } = config;
  const { abandonedAfter: after = 900_000 } = config;
  if (cp.role !== 'zone') throw new Error('these loops run on zones only');
  const settings = Object.entries(config.ranges).map(([owner, range]) => ({ owner, range }));
  const plan = planRanges(settings, { force: config.forceRanges ?? false });
  if (!plan.ok) throw new Error(plan.errors.join('; '));
  const ids = new WorkloadIds();
  return [
    new KeyedLoop(
      new ServicesReconciler({
        cp,
        gracePeriod: grace,
        ids,
        ...(onUnusableName ? { onUnusableName } : {}),
        ...(meshes ? { meshes } : {}),
      }),
    ),
    new KeyedLoop(new AvailabilityReconciler(cp.zone, proxies, ids)),
    new VipReconciler({ ...config, ...(ackWatermark ? { ackWatermark } : {}), ranges: plan.owned, cooldown }),
    ...(proxies ? [createProxyConditionsLoop(cp.zone, proxies)] : []),
    ...(proxies ? [new KeyedLoop(new IngressHealthReconciler(cp.zone))] : []),
    ...(proxies
      ? [new KeyedLoop(new AbandonedDataplanesReconciler({ ...config, zone: cp.zone, proxies, after }))]
      : []),
    new HostnameReconciler(cp, meshes),
    new KeyedLoop(new MultizoneReconciler()),
  ];
}

/** Returns the usage of the zone's address ranges, and of those of meshes, at `now` (ms of the store's clock). Empty without a vip loop. */
export function poolReports(loops: readonly ControlLoop[], now: number): readonly PoolReport[] {
  return loops.find((loop) => loop instanceof VipReconciler)?.reportsAt(now) ?? [];
}
