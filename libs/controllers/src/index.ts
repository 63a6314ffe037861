/**
 * Control loops: each derives, from what the index holds, what should stand in the store, and the runner writes it.
 *
 *   index event → ControlLoop.observe → plan → LoopRunner writes, fenced by the leader's epoch → index
 */
export { type ControlLoop, type LoopPlan } from './runner/control-loop';
export { LoopRunner, runLoops, type RunnerOptions } from './runner/loop-runner';
export { type LoopStats, type RunnerStats } from './runner/loop-stats';
export { createZoneLoops, poolFigures, type ZoneLoopsConfig } from './zone-loops';
export { ConditionsLoop, type ConditionsConfig } from './conditions/conditions-loop';
export { selectedDataplanes } from './matching/selected-dataplanes';
export { HostnameLoop } from './hostname/hostname-loop';
export { ClaimsView } from './explain/claims-view';
export { type ClaimLine, type ServiceName } from './explain/claim-line';
export { dryRunGenerator, type DryRunName, type DryRunSource, type GeneratorDryRun } from './explain/dry-run-generator';
export {
  explainHostname,
  listHostnames,
  type HostnameEntry,
  type HostnameExplanation,
  type HostnamePage,
  type HostnameQuestion,
} from './explain/explain-hostname';
export { HostnameExplainer, type ViewedQuestion, type ViewOf } from './explain/hostname-explainer';
export { explainReported } from './explain/reported-hostnames';
