/**
 * What the program of a machine is made of: it joins a zone, keeps what the zone tells its Dataplanes, and runs what carries their
 * traffic.
 *
 *   zone ══ADS══► ResourceCache (disk) ─► Plane (Envoy by a local xDS server | builtin) , DNS
 *   configuration file ─► Dataplanes ─► lease, health
 */
export { readConfig } from './config/read-config';
export { LeaseHolder, type LeasedDataplane, type LeaseState } from './lease/lease-holder';
export {
  applySteps,
  ResolverSetup,
  type MachineResolver,
  type SetupPlan,
  type SetupStep,
} from './names/resolver-setup';
export { type Plane } from './plane';
export { ResourceCache } from './resources/resource-cache';
export { BuiltinPlane, type BuiltinPlaneOptions } from './builtin/builtin-plane';
export { prometheusText, rawStats } from './builtin/stats';
export { PlaneProcesses } from './builtin/processes/plane-processes';
export { loadConfig } from './config/config-file';
export { Agent, agentSocketPath } from './machine/agent';
export { KnownZone } from './machine/zone-facts';
export { unreadable } from './identity/zone-access';
export { removeState } from './machine/state-folder';
export { askAgent, isAnswered } from './machine/agent-socket';
export { type AgentStatus } from './machine/status';
export { DirectPlane, type DirectPlaneOptions } from './direct/direct-plane';
export { MachineNetwork } from './capture/machine-network';
export { NetworkFailure, type NetworkTools } from './capture/network-tools';
export type { NetworkPlan } from './capture/ruleset';
export { AGENT_METRICS } from './machine/agent-metrics';
