import { afterTick, errorText, type Timer } from '@causeway/runtime';
import { isStalled } from '../session/kind-report';
import type { FanOut } from './fan-out';
import type { WholeStates } from './zones/whole-states';
import type { ZoneInsights } from './zones/zone-insights';
import type { KumaGate } from './kuma-gate';
import type { LiveSessions } from './live-sessions';
import type { GlobalSyncOptions } from './global-sync-options';

/** Interval between two rounds, ms. */
const ROUND_INTERVAL = 5_000;
/** Insights are renewed every second round. */
const RENEW_ROUNDS = 2;
/** Peers get bookmarks of unchanged kinds once an hour: well within the retention of tombstones (docs/design.md §2.3). */
const BOOKMARK_ROUNDS = 720;
/** A stream is closed if it makes no progress for this long although data waits, ms (docs/design.md §5). */
const STALL_TIMEOUT = 60_000;

/** Dependencies of a session reaper. */
export interface SessionReaperParts {
  readonly options: GlobalSyncOptions;
  readonly live: LiveSessions;
  readonly fanOut: FanOut;
  readonly insights: ZoneInsights;
  readonly wholeStates: WholeStates;
  readonly gate: KumaGate;
}

/** Periodic work of a global's sync: renews insights, closes stalled streams and those of sessions that another replica replaced. */
export class SessionReaper {
  private timer: Timer | undefined;
  private round = 0;

  constructor(private readonly parts: SessionReaperParts) {}

  start(): void {
    this.timer = afterTick(this.parts.options.clock, ROUND_INTERVAL, () => {
      this.start();
      void this.run();
    });
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** Runs one round. */
  async run(): Promise<void> {
    this.round++;
    const { live, fanOut, insights, gate, wholeStates } = this.parts;
    const zones = live.names();
    this.endStalled(zones);
    if (this.round % BOOKMARK_ROUNDS === 0) fanOut.requestBookmarks();
    const turned = zones.filter((zone) => insights.hasHealthChanged(zone));
    const isRenewal = this.round % RENEW_ROUNDS === 0;
    await Promise.all([
      insights.write(isRenewal ? zones : turned),
      isRenewal ? wholeStates.mark(zones) : undefined,
      // The leader reads the sessions in the same tick.
      zones.length > 0 ? this.endReplaced() : undefined,
    ]);
    // Zones also report to other replicas.
    if (zones.length > 0) await gate.check();
  }

  private endStalled(zones: readonly string[]): void {
    const { live, options } = this.parts;
    const now = options.clock.now();
    for (const zone of zones) {
      for (const stream of live.of(zone)) {
        if (now - (stream.half.blockedSince ?? now) >= STALL_TIMEOUT) {
          stream.close(`the zone read nothing for ${STALL_TIMEOUT / 1_000} s`);
          continue;
        }
        const stalled = stream.half.reports().filter((report) => isStalled(report, now, STALL_TIMEOUT));
        if (stalled.length === 0) continue;
        const kinds = stalled.map((report) => report.kind);
        options.logger.warn('a zone does not acknowledge what it is sent', { zone, kinds, causeway: stream.causeway });
        // A new stream would not help a Kuma peer, so the stall is only logged.
        if (stream.causeway) live.closeZone(zone, `stalled: ${kinds.join(', ')}`);
      }
    }
  }

  /** Closes streams whose session was replaced on another replica. */
  private async endReplaced(): Promise<void> {
    const { live, options } = this.parts;
    try {
      for (const { zone, up, down } of await options.sessions.sessions()) {
        live.closeOlder(zone, up, 'up');
        live.closeOlder(zone, down, 'down');
      }
    } catch (error) {
      options.logger.warn('sessions could not be read', { error: errorText(error) });
    }
  }
}
