/** Foundations of every program (libs/runtime/README.md). */
export { aborted, onAbort, orAborted, sharedAbortController, underSignals, withDeadline, withTimeout } from './abort';
export { Backoff, type BackoffOptions } from './backoff';
export { BoundedMap } from './bounded-map';
export { BusyPacer } from './busy-pacer';
export { systemClock, type Clock, type Timer } from './clock';
export { createElection } from './election/election';
export { EventLoopLeaseKeeper, type EventLoopLeaseKeeperOptions } from './election/event-loop-lease-keeper';
export {
  type KeptLease,
  type LeaderElection,
  type LeaderEpoch,
  type LeaderLease,
  type LeaderLock,
  type LeaderStatus,
  type LeaderTerm,
  type LeaderWitness,
  type LeaseKeeper,
  type LeaseRequest,
  type WitnessChange,
} from './election/leader-election';
export { REFUSED_LEASES } from './election/lock-health';
export { errorText, silentLogger, type LogFields, type Logger, type LogLevel } from './logger';
export { injectFrom, injectionToken, provideFrom, type Injection, type Provided } from './providers';
export {
  fileKey,
  readSettings,
  type KnownNames,
  type SettingSources,
  type SettingsResult,
} from './settings/read-settings';
export {
  checkedText,
  count,
  duration,
  flag,
  list,
  oneOf,
  optional,
  port,
  reloaded,
  secret,
  text,
  type Setting,
  type SettingForm,
  type Settings,
  type SettingValues,
} from './settings/setting';
export { REQUEST_ID, resolveRequestId } from './request-id';
export { PURPOSES, type Impediment } from './health/impediment';
export { parseServerList } from './settings/server-list';
export { afterTick, nextTickAt, sleepUntilTick } from './shared-ticks';
export { SingleFlight } from './single-flight';
export { splitIntoBatches, inSlices, inTimedSlices, SLICE, SlicedWork, yieldToEventLoop } from './sliced-work';
export { sortedPage, SortedRuns, type PageRange, type SortedPage } from './sorted-page';
export { TokenBucket, TokenBuckets, type Rate } from './token-buckets';
export { asStep, noTracer, requestTrace, type RequestTrace, type Span, type StepOptions, type Tracer } from './tracer';
export { WakeableSleep } from './wakeable-sleep';
export { startWorkerThread, type WorkerThread } from './worker-thread';
export { CallerLog, RateLimitedLogger } from './rate-limited-logger';
