import type { JsonObject } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import type { GlobalSyncOptions } from './global-sync-options';

/** Where doubtful claims stand beside the log, by zone. */
export const DOUBTFUL_CLAIMS_AREA = 'zone-doubt';

/** One that is repeated is written at most so often, ms (design.md §2.8). */
const RENEW = 10_000;

/** Something that a zone said of itself in a handshake and that cannot be so; nothing follows from it for others. */
export interface DoubtfulClaim {
  readonly claim: 'revision' | 'epoch';
  readonly detail: string;
  /** The replica that said so. */
  readonly instance: string;
  /** Last, ms since 1970. */
  readonly seenAt: number;
}

type DoubtfulClaimsOptions = Pick<GlobalSyncOptions, 'store' | 'clock' | 'logger'>;

/** The last doubtful claim of each zone, for the operator to see; gone with the next handshake that makes none. */
export class DoubtfulClaims {
  private readonly written = new Map<string, DoubtfulClaim>();

  constructor(private readonly parts: DoubtfulClaimsOptions) {}

  /** Never rejects. */
  async note(zone: string, doubt: Omit<DoubtfulClaim, 'seenAt'>): Promise<void> {
    const seenAt = this.parts.clock.now();
    const last = this.written.get(zone);
    if (last?.claim === doubt.claim && last.instance === doubt.instance && seenAt - last.seenAt < RENEW) return;
    const claim = { ...doubt, seenAt };
    this.written.set(zone, claim);
    this.parts.logger.warn('a zone makes a doubtful claim', { zone, ...doubt });
    await this.write(zone, { ...claim });
  }

  /** The zone has shaken hands without such a claim, or the operator has decided; never rejects. */
  async clear(zone: string): Promise<void> {
    const known = this.written.delete(zone) || (await this.of(zone).catch(() => undefined)) !== undefined;
    if (known) await this.write(zone, null);
  }

  /** Throws Unavailable. */
  async of(zone: string): Promise<DoubtfulClaim | undefined> {
    const note = await this.parts.store.note(DOUBTFUL_CLAIMS_AREA, zone);
    return note && claimIn(note);
  }

  private async write(zone: string, value: JsonObject | null): Promise<void> {
    const { store, logger } = this.parts;
    try {
      await store.write({ changes: [], onRefusal: 'skip', notes: [{ area: DOUBTFUL_CLAIMS_AREA, key: zone, value }] });
    } catch (error) {
      logger.warn('a doubtful claim could not be noted', { zone, error: errorText(error) });
    }
  }
}

function claimIn({ claim, detail, instance, seenAt }: JsonObject): DoubtfulClaim | undefined {
  if (claim !== 'revision' && claim !== 'epoch') return undefined;
  if (typeof detail !== 'string' || typeof instance !== 'string' || typeof seenAt !== 'number') return undefined;
  return { claim, detail, instance, seenAt };
}
