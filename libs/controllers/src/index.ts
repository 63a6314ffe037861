/**
 * Control loops: each derives, from what the index holds, what should stand in the store, and the runner writes it.
 *
 *   index event → ControlLoop.observe → plan → LoopRunner writes, fenced by the leader's epoch → index
 */
export { type ControlLoop, type LoopPlan } from './runner/control-loop';
export { LoopRunner, runLoops, type RunnerOptions } from './runner/loop-runner';
export { type LoopStats, type RunnerStats } from './runner/loop-state';
export { createZoneReconcilers, poolMetrics, type ZoneReconcilersConfig } from './zone-reconcilers';
export { createConditionsReconciler, type ConditionsConfig } from './conditions/conditions-reconciler';
export { selectedDataplanes } from './matching/dataplane-selector';
export { HostnameReconciler } from './hostname/hostname-reconciler';
export { ClaimsView } from './explain/claims-view';
export { type ExplainedClaim, type ServiceRef } from './explain/explained-claim';
export { dryRunGenerator, type DryRunName, type DryRunSource, type GeneratorDryRun } from './explain/dry-run-generator';
export {
  explainHostname,
  listHostnames,
  type HostnameEntry,
  type HostnameExplanation,
  type HostnamePage,
  type HostnameRef,
} from './explain/explain-hostname';
export { HostnameExplainer, type ZonedHostnameRef, type ZoneOfView } from './explain/hostname-explainer';
export { explainReported } from './explain/reported-hostnames';
