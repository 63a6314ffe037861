/** What the program causeway-agent is made of (libs/agent/README.md). */
export { checkConfig, problemLines, readConfig, type ConfigProblem, type ConfigResult } from './config/read-config';
export {
  AgentSchema,
  type AgentConfig,
  type DataplaneConfig,
  type HealthCheckConfig,
  type IngressConfig,
  type OutboundConfig,
  type ServiceConfig,
} from './config/schema';
export { describeCheck, HealthChecks, type CheckedService, type HealthChecksOptions } from './health/health-checks';
export { isAddressHere, listeningSockets, type ListeningSocket } from './health/listening-sockets';
export { agentInstance, leaseSecret } from './lease/agent-instance';
export {
  LeaseHolder,
  type AttachmentState,
  type InboundReadiness,
  type LeasedDataplane,
  type LeaseHolderOptions,
  type LeaseState,
} from './lease/lease-holder';
export type { LeaseEndpoint } from './lease/attachment';
export { AgentNames, createAgentDns, type AgentDnsOptions, type AgentNamesOptions } from './names/agent-names';
export {
  applySteps,
  ResolverSetup,
  type MachineResolver,
  type ResolverSetupOptions,
  type SetupPlan,
  type SetupStep,
} from './names/resolver-setup';
export { type Plane, type PlaneState } from './plane';
export {
  ResourceCache,
  type CacheChange,
  type CacheLimits,
  type ResourceCacheOptions,
  type ResourceClient,
  type ResourceReader,
  type Taker,
} from './resources/resource-cache';
export { BuiltinPlane, type BuiltinPlaneOptions } from './builtin/builtin-plane';
export type { Unobeyed } from './builtin/plane-engine';
export { prometheusText, rawStats, type StatSnapshot } from './builtin/stats';
export { PlaneProcesses, type PlaneProcessesOptions } from './builtin/processes/plane-processes';
export { loadConfig, type ConfigSource, type LoadedConfig } from './config/config-file';
export { Agent, agentSocketPath, type AgentOptions } from './machine/agent';
export { KnownZone } from './machine/zone-facts';
export { unreadable } from './identity/zone-access';
export { removeState } from './machine/state-folder';
export { askAgent, isAnswered } from './machine/agent-socket';
export { type MachineFacts } from './machine/machine-parts';
export { statusText, type AgentStatus } from './machine/status';
export { DirectPlane, type DirectPlaneOptions } from './direct/direct-plane';
export { MachineNetwork, type MachineNetworkOptions } from './capture/machine-network';
export { NetworkFailure, type NetworkTools } from './capture/network-tools';
export type { NetworkPlan } from './capture/ruleset';
export { AGENT_METRICS } from './machine/agent-metrics';
