/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { readConfig } from '../src/config/read-config';
export { LeaseHolder, type LeasedDataplane, type LeaseState } from '../src/lease/lease-holder';
export type { Plane } from '../src/plane';
export { ResourceCache } from '../src/resources/resource-cache';
export { BuiltinPlane, type BuiltinPlaneOptions } from '../src/builtin/builtin-plane';
export { formatPrometheus } from '../src/builtin/stats';
export { rawStats } from './raw-stats';
export { PlaneProcesses } from '../src/builtin/processes/plane-processes';
export type { AgentStatus } from '../src/machine/status';
export { DirectPlane, type DirectPlaneOptions } from '../src/direct/direct-plane';
export { LastingProgram } from '../src/programs/lasting-program';
export { MachineNetwork } from '../src/capture/machine-network';
export { NetworkFailure, type NetworkTools } from '../src/capture/network-tools';
export type { NetworkPlan } from '../src/capture/ruleset';
export { AGENT_METRICS } from './metrics-page';
export { withoutDemand } from '../src/capture/demand-rules';
export type { ChangeApplier } from '../src/resources/resource-reader';
