/**
 * What the program of a machine is made of: it joins a zone, keeps what the zone tells its Dataplanes, and runs what carries their
 * traffic.
 *
 *   zone ══ADS══► ResourceCache (disk) ─► Plane (Envoy by a local xDS server | builtin) , DNS
 *   configuration file ─► Dataplanes ─► lease, health
 */
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
export { unreadable } from './identity/zone-access';
export { removeState } from './machine/state-folder';
export { askAgent, isAnswered } from './machine/agent-socket';
