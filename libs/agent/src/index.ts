/** Parts of the program causeway-agent (libs/agent/README.md). */
export {
  applySteps,
  ResolverSetup,
  type MachineResolver,
  type SetupPlan,
  type SetupStep,
} from './names/resolver-setup';
export { loadConfig } from './config/config-file';
export { Agent, agentSocketPath } from './machine/agent';
export { KnownZone } from './machine/zone-facts';
export { listUnreadable } from './identity/zone-access';
export { endLeftovers, removeState } from './machine/state-folder';
export { DRAINED_EXIT_CODE, readSystemUnit, SystemUnit } from './machine/system-unit';
export { askAgent, isAnswered } from './machine/agent-socket';
