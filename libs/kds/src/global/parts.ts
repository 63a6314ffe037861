import type { LiveAdmissions } from '../auth/live-admissions';
import type { Audience } from './audience';
import type { KumaGate } from './kuma-gate';
import type { LiveSessions } from './live-sessions';
import type { GlobalSyncOptions } from './options';
import type { PlainLives } from './plain-lives';
import type { Quarantines } from './quarantines';
import type { RefusalLog } from './refusal-log';
import type { StreamEnds } from './stream-ends';
import type { ZoneDoor } from './zone-door';
import type { ZoneIntake } from './zone-intake';

/** The parts of one global's sync. */
export interface GlobalParts {
  readonly options: GlobalSyncOptions;
  readonly audience: Audience;
  readonly live: LiveSessions;
  readonly door: ZoneDoor;
  readonly plainLives: PlainLives;
  readonly gate: KumaGate;
  readonly admissions: LiveAdmissions;
  readonly intake: ZoneIntake;
  readonly ends: StreamEnds;
  readonly quarantines: Quarantines;
  readonly refusals: RefusalLog;
}
