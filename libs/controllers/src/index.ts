/**
 * Control loops: each derives, from what the index holds, what should stand in the store, and the runner writes it.
 *
 *   index event → ControlLoop.observe → plan → LoopRunner writes, fenced by the leader's epoch → index
 */
export { type ControlLoop, type LoopPlan } from './runner/control-loop';
export { LoopRunner, runLoops, type RunnerOptions } from './runner/loop-runner';
export { type LoopStats, type RunnerStats } from './runner/loop-stats';
export { createZoneLoops, poolFigures, type ZoneLoopsConfig } from './zone-loops';
export { HostnameLoop } from './hostname/hostname-loop';
export { withCondition, type Condition } from './status/condition';
