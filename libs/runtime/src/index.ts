/**
 * What every loop needs and none owns: time, logs, waiting between tries, the election of a leader.
 *
 * Ports (Clock, Logger, LeaderElection) with the smallest honest implementation of each; the rest are adapters.
 */
export { FakeClock, systemClock, type Clock, type Timer } from './clock';
export { errorText, silentLogger, type Logger, type LogFields } from './logger';
export { Backoff, type BackoffOptions } from './backoff';
export { type LeaderElection, type LeaderStatus, type Term } from './leader-election';
export { createElection } from './election';
export { type ElectionOptions } from './election-options';
export {
  EventLoopKeeper,
  type EventLoopKeeperOptions,
  type KeptLease,
  type LeaseKeeper,
  type Tenure,
} from './lease-keeper';
export { type LeaderLock } from './leader-lock';
export { inSlices, nextTurn, SLICE, SlicedWork } from './sliced-work';
export { SharedWork } from './shared-work';
export { sortedPage, type Part, type SortedPage } from './sorted-page';
export { SortedRuns } from './sorted-runs';
export { RecentMap } from './recent-map';
export { TokenBucket, TokenBuckets, type Rate } from './token-buckets';
export { within } from './within';
export { type LeaderEpoch, type LeaderLease } from './leader-lease';
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
  type Parsed,
  type Setting,
} from './settings/setting';
export {
  fileKey,
  readSettings,
  type OtherNames,
  type SettingSources,
  type SettingsRead,
} from './settings/read-settings';
export { type Settings, type SettingValues } from './settings/settings-types';
export { startWorkerThread, type WorkerThread, type WorkerThreadOptions } from './worker-thread';
