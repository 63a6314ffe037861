/**
 * What every loop needs and none owns: time, logs, waiting between tries, the election of a leader.
 *
 * Ports (Clock, Logger, LeaderElection) with the smallest honest implementation of each; the rest are adapters.
 */
export { FakeClock, systemClock, type Clock, type Timer } from './clock';
export { errorText, silentLogger, type Logger, type LogFields } from './logger';
export { Backoff, type BackoffOptions } from './backoff';
export { type LeaderElection, type LeaderStatus, type LeaderTerm } from './election/leader-election';
export { createElection } from './election/election';
export { type ElectionOptions } from './election/election-options';
export {
  EventLoopLeaseKeeper,
  type EventLoopLeaseKeeperOptions,
  type KeptLease,
  type LeaseKeeper,
  type LeaseRequest,
} from './election/event-loop-lease-keeper';
export { type LeaderLock } from './election/leader-lock';
export { inSlices, yieldToEventLoop, SLICE, SlicedWork } from './sliced-work';
export { SingleFlight } from './single-flight';
export { sortedPage, type PageRange, type SortedPage } from './sorted-page';
export { SortedRuns } from './sorted-runs';
export { BoundedMap } from './bounded-map';
export { TokenBucket, TokenBuckets, type Rate } from './token-buckets';
export { within } from './within';
export { type LeaderEpoch, type LeaderLease } from './election/leader-lease';
export { aborted, orAborted } from './abort';
export {
  count,
  duration,
  flag,
  list,
  oneOf,
  optional,
  port,
  secret,
  text,
  type ParseResult,
  type Setting,
} from './settings/setting';
export {
  fileKey,
  readSettings,
  type KnownNames,
  type SettingSources,
  type SettingsResult,
} from './settings/read-settings';
export { type Settings, type SettingValues } from './settings/settings-types';
export { startWorkerThread, type WorkerThread, type WorkerThreadOptions } from './worker-thread';
