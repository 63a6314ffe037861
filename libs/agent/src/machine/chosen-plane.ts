import type { Clock, Logger } from '@causeway/runtime';
import { BuiltinPlane } from '../builtin/builtin-plane';
import type { PlaneProcesses } from '../builtin/processes/plane-processes';
import type { MachineNetwork } from '../capture/machine-network';
import type { AgentConfig } from '../config/schema';
import { DirectPlane } from '../direct/direct-plane';
import { EnvoyPlane } from '../envoy/envoy-plane';
import { findEnvoy, type EnvoyPlaces, type EnvoyProgram } from '../envoy/envoy-program';
import type { LocalXdsServer } from '../envoy/local-xds-server';
import { GrpcPlane } from '../grpc/grpc-plane';
import type { Plane } from '../plane';
import type { ResourceReader } from '../resources/resource-reader';
import { formatNodeId, type ProxyPlan } from './machine-proxy';

/** Dataplane mode of the proxies of a machine. */
export type ChosenPlane =
  | { readonly type: 'builtin' }
  | { readonly type: 'direct' }
  | { readonly type: 'grpc' }
  | { readonly type: 'envoy'; readonly program: EnvoyProgram };

/** Proxy that a dataplane carries. */
export interface CarriedProxy {
  readonly plan: ProxyPlan;
  readonly config: AgentConfig;
  readonly resources: ResourceReader;
  readonly keyFile: string;
  readonly zone: string | undefined;
}

/** Shared by the dataplanes of a machine. */
export interface PlaneParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly xds: LocalXdsServer;
  /** Id of the agent. */
  readonly instance: string;
  readonly network: MachineNetwork;
  readonly processes: PlaneProcesses;
}

/** Maximum number of connections of an ingress with Envoy. */
const INGRESS_CONNECTIONS = 50_000;

/** Returns the configured dataplane mode, or why it is not available. */
export async function choosePlane(
  { plane, envoy }: AgentConfig,
  places: Omit<EnvoyPlaces, 'path'>,
): Promise<ChosenPlane | { readonly type: 'none'; readonly reason: string }> {
  if (plane === 'builtin' || plane === 'direct' || plane === 'grpc') return { type: plane };
  const found = await findEnvoy({ path: envoy?.path, ...places });
  if (found.ok) return { type: 'envoy', program: found.program };
  if (plane === undefined && found.isMissing) return { type: 'builtin' };
  return { type: 'none', reason: found.reason };
}

/** Creates the dataplane of a proxy without starting it. */
export function createPlane(
  chosen: ChosenPlane,
  { plan, config, resources: cache, keyFile, zone }: CarriedProxy,
  { clock, logger, xds, instance, network, processes }: PlaneParts,
): Plane {
  if (chosen.type === 'builtin')
    return new BuiltinPlane(cache, { clock, ...(countProcesses(config) > 0 && { processes }) });
  if (chosen.type === 'direct') {
    const { trustedNetworks = [] } = config;
    const capturesVirtualIps = plan.capture === 'translate';
    return new DirectPlane(cache, { network, instance, clock, logger, trustedNetworks, capturesVirtualIps });
  }
  const id = formatNodeId(plan);
  if (chosen.type === 'grpc') {
    const folder = `${plan.folder}/grpc`;
    return new GrpcPlane({ id, cluster: plan.name, folder, keyFile, zone, cache, xds, clock, logger });
  }
  return new EnvoyPlane({
    program: chosen.program,
    id,
    cluster: plan.name,
    folder: plan.folder,
    cache,
    xds,
    clock,
    concurrency: config.envoy?.concurrency ?? 2,
    ...(plan.type === 'ingress' && { connections: INGRESS_CONNECTIONS }),
    logger: logger.child({ proxy: id }),
  });
}

/** Returns the number of processes for builtin dataplanes; 0: the agent's own process carries them. */
export function countProcesses({ builtin }: AgentConfig): number {
  return builtin && builtin.processes > 1 ? builtin.processes : 0;
}
