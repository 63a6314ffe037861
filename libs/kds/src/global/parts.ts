import type { StreamAuthMonitor } from '../auth/stream-auth-monitor';
import type { FanOut } from './fan-out';
import type { KumaGate } from './kuma-gate';
import type { LiveSessions } from './live-sessions';
import type { GlobalSyncOptions } from './global-sync-options';
import type { KumaInstanceIds } from '../kuma/kuma-incarnation';
import type { Quarantines } from './zones/zone-decisions';
import type { RefusalLog } from '../session/rate-limited-logger';
import type { StreamEndings } from './zones/zone-incidents';
import type { HandshakeHandler } from './handshake-handler';
import type { InboundCapacity } from '../session/inbound/inbound-capacity';

/** The parts of one global's sync. */
export interface GlobalParts {
  readonly options: GlobalSyncOptions;
  readonly fanOut: FanOut;
  readonly live: LiveSessions;
  readonly handshakes: HandshakeHandler;
  readonly kumaInstances: KumaInstanceIds;
  readonly gate: KumaGate;
  readonly admissions: StreamAuthMonitor;
  readonly inbound: InboundCapacity;
  readonly endings: StreamEndings;
  readonly quarantines: Quarantines;
  readonly refusals: RefusalLog;
}
