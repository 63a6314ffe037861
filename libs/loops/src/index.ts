/** Control loops: their contract, the runner of a leader's loops, and the kit for loops that work by keys (libs/loops/README.md). */
export { type ControlLoop, type LoopPlan, type ReservingLoop } from './runner/control-loop';
export { LoopRunner } from './runner/loop-runner';
export { type LoopStats, type RunnerStats } from './runner/loop-state';
export { FollowedKeys, keysOfTable, RESCAN, type KeySource, type StaleKeyList } from './reconcile/followed-keys';
export {
  KeyedLoop,
  NO_KEYS,
  type KeyedReconciler,
  type Keys,
  type ReconcileResult,
} from './reconcile/keyed-reconciler';
export { DelayQueue } from './reconcile/delay-queue';
export { planBatch, refusedKeys, WorkQueue } from './reconcile/work-queue';
