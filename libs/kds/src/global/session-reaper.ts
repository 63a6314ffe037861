import { errorText, type Timer } from '@causeway/runtime';
import { isStalled } from '../session/kind-report';
import type { FanOut } from './fan-out';
import type { ZoneInsights } from './zones/zone-insights';
import type { KumaGate } from './kuma-gate';
import type { LiveSessions } from './live-sessions';
import type { GlobalSyncOptions } from './global-sync-options';

const ROUND = 5_000;
/** Insights are renewed each second round. */
const RENEW_ROUNDS = 2;
/** Points of kinds that do not change are moved on once an hour: well within the life of tombstones (design.md §2.3). */
const TOUCH_ROUNDS = 720;
/** A stream that stands still for so long while something waits is torn down, ms (design.md §5). */
const STALL_TIMEOUT = 60_000;

/** What an upkeep works on. */
export interface SessionReaperParts {
  readonly options: GlobalSyncOptions;
  readonly live: LiveSessions;
  readonly audience: FanOut;
  readonly insights: ZoneInsights;
  readonly gate: KumaGate;
}

/** The little that the global's sync does by the clock: insights, stalled streams, sessions that other replicas replaced. */
export class SessionReaper {
  private timer: Timer | undefined;
  private round = 0;

  constructor(private readonly parts: SessionReaperParts) {}

  start(): void {
    this.timer = this.parts.options.clock.after(ROUND, () => {
      this.start();
      void this.run();
    });
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** One round. */
  async run(): Promise<void> {
    this.round++;
    const { live, audience, insights, gate } = this.parts;
    const zones = live.names();
    this.endStalled(zones);
    if (this.round % TOUCH_ROUNDS === 0) audience.touchAll();
    const turned = zones.filter((zone) => insights.hasHealthChanged(zone));
    await insights.write(this.round % RENEW_ROUNDS === 0 ? zones : turned);
    if (zones.length > 0) await this.endReplaced();
    // Zones report on other replicas as well.
    if (zones.length > 0) await gate.check();
  }

  private endStalled(zones: readonly string[]): void {
    const { live, options } = this.parts;
    const now = options.clock.now();
    for (const zone of zones) {
      for (const member of live.of(zone)) {
        if (now - (member.blockedSince() ?? now) >= STALL_TIMEOUT) {
          member.close(`nothing of what was sent was read for ${STALL_TIMEOUT / 1_000} s`);
          continue;
        }
        const stalled = member.reports().filter((report) => isStalled(report, now, STALL_TIMEOUT));
        if (stalled.length === 0) continue;
        const kinds = stalled.map((report) => report.kind);
        options.logger.warn('a zone does not take in what it is sent', { zone, kinds, causeway: member.causeway });
        // A Kuma peer sees no more by a new stream than by the old one: it is only reported.
        if (member.causeway) live.closeZone(zone, `stalled: ${kinds.join(', ')}`);
      }
    }
  }

  /** Streams here whose session another replica has replaced. */
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
