import { NotFound, type JsonObject } from '@causeway/resources';
import { errorText, BoundedMap } from '@causeway/runtime';
import type { GlobalSyncOptions } from '../global-sync-options';
import type { StreamEndReason } from '../../session/peer-stream';
import { sanitizePeerText } from '../../session/peer-limits';

/** Area of the metadata entries about refused stores; the key is the zone's name. */
export const REFUSED_STORES_AREA = 'zone-refusal';

/** A refused zone retries within seconds; a refusal that was not renewed for this long is no longer shown, ms. */
const REFUSAL_TTL = 600_000;

/** A repeated refusal or claim is written at most once in this time, ms (docs/design.md §2.8). */
const MIN_RENEWAL_INTERVAL = 10_000;

/** A store that tried to open a session under the name of a zone that is bound to another store. */
export interface RefusedStore {
  readonly storeId: string;
  /** The zone's replica that made the call. */
  readonly instance: string;
  /** Time of the last refusal, ms since 1970. */
  readonly refusedAt: number;
}

/** The store that a zone's name is bound to after an adoption. */
export interface Adoption {
  readonly zone: string;
  /** Empty: the next store that opens a session is bound. */
  readonly storeId: string;
  /** Empty if the name was bound to no store. */
  readonly formerly: string;
}

type RefusedStoresOptions = Pick<GlobalSyncOptions, 'store' | 'sessions' | 'clock' | 'logger'>;

/** The last store that was refused under each zone's name, and the operator's adoption of it (docs/design.md §5 Ownership). */
export class RefusedStores {
  private readonly written = new Map<string, RefusedStore>();

  constructor(private readonly parts: RefusedStoresOptions) {}

  /** Records a refusal, so that the operator sees which store to adopt. Never rejects. */
  async record(zone: string, storeId: string, instance: string): Promise<void> {
    const { store, clock, logger } = this.parts;
    const last = this.written.get(zone);
    const now = clock.now();
    if (last?.storeId === storeId && last.instance === instance && now - last.refusedAt < MIN_RENEWAL_INTERVAL) return;
    const refused = { storeId, instance, refusedAt: now };
    this.written.set(zone, refused);
    try {
      const entries = [{ area: REFUSED_STORES_AREA, key: zone, value: { ...refused } }];
      await store.write({ changes: [], onRefusal: 'skip', metadata: entries });
    } catch (error) {
      logger.warn('a refusal could not be recorded', { zone, storeId, error: errorText(error) });
    }
  }

  /** Returns the store that is refused now; undefined if there is none or the operator has adopted it. Throws Unavailable. */
  async of(zone: string): Promise<RefusedStore | undefined> {
    const entry = await this.parts.store.readMetadata(REFUSED_STORES_AREA, zone);
    const refused = entry && entry['adopted'] !== true ? decodeRefusedStore(entry) : undefined;
    return refused && this.parts.clock.now() - refused.refusedAt <= REFUSAL_TTL ? refused : undefined;
  }

  /**
   * Binds a zone's name to the store with this id; by default to the store that was refused last, else to the next store
   * that opens a session. Idempotent. Throws NotFound for a zone that never had a session.
   */
  async adopt(zone: string, storeId?: string): Promise<Adoption> {
    const { store, sessions, logger } = this.parts;
    const standing = await sessions.session(zone);
    if (!standing) throw new NotFound(`zone ${zone} never had a session with this global`);
    const entry = (await store.readMetadata(REFUSED_STORES_AREA, zone)) ?? {};
    const refused = decodeRefusedStore(entry);
    const wanted = storeId ?? refused?.storeId ?? '';
    if (await sessions.adopt(zone, wanted)) {
      logger.warn('a zone was adopted', { zone, storeId: wanted, formerly: standing.storeId });
    }
    if (refused?.storeId === wanted) {
      // The entry stays: a repeated adoption means the same store.
      const entries = [{ area: REFUSED_STORES_AREA, key: zone, value: { ...entry, adopted: true } }];
      await store.write({ changes: [], onRefusal: 'skip', metadata: entries });
    }
    return { zone, storeId: wanted, formerly: standing.storeId };
  }
}

function decodeRefusedStore({ storeId, instance, refusedAt }: JsonObject): RefusedStore | undefined {
  if (typeof storeId !== 'string' || typeof instance !== 'string' || typeof refusedAt !== 'number') return undefined;
  return { storeId, instance, refusedAt };
}

/** Area of the metadata entries about doubtful claims; the key is the zone's name. */
export const DOUBTFUL_CLAIMS_AREA = 'zone-doubt';

/** A claim in a zone's handshake that cannot be true; other zones are not affected. */
export interface DoubtfulClaim {
  readonly claim: 'revision' | 'epoch';
  readonly detail: string;
  /** The zone's replica that made the claim. */
  readonly instance: string;
  /** Time of the last claim, ms since 1970. */
  readonly seenAt: number;
}

type DoubtfulClaimsOptions = Pick<GlobalSyncOptions, 'store' | 'clock' | 'logger'>;

/** The last doubtful claim of each zone, for the operator. The next handshake without such a claim removes it. */
export class DoubtfulClaims {
  private readonly written = new Map<string, DoubtfulClaim>();

  constructor(private readonly parts: DoubtfulClaimsOptions) {}

  /** Records a claim. Never rejects. */
  async record(zone: string, doubt: Omit<DoubtfulClaim, 'seenAt'>): Promise<void> {
    const seenAt = this.parts.clock.now();
    const last = this.written.get(zone);
    if (last?.claim === doubt.claim && last.instance === doubt.instance && seenAt - last.seenAt < MIN_RENEWAL_INTERVAL)
      return;
    const claim = { ...doubt, seenAt };
    this.written.set(zone, claim);
    this.parts.logger.warn('a zone makes a doubtful claim', { zone, ...doubt });
    await this.write(zone, { ...claim });
  }

  /** Removes the zone's claim, after a handshake without one or a decision of the operator. Never rejects. */
  async clear(zone: string): Promise<void> {
    const known = this.written.delete(zone) || (await this.of(zone).catch(() => undefined)) !== undefined;
    if (known) await this.write(zone, null);
  }

  /** Returns the zone's claim; undefined if it has none. Throws Unavailable. */
  async of(zone: string): Promise<DoubtfulClaim | undefined> {
    const entry = await this.parts.store.readMetadata(DOUBTFUL_CLAIMS_AREA, zone);
    return entry && decodeDoubtfulClaim(entry);
  }

  private async write(zone: string, value: JsonObject | null): Promise<void> {
    const { store, logger } = this.parts;
    try {
      await store.write({
        changes: [],
        onRefusal: 'skip',
        metadata: [{ area: DOUBTFUL_CLAIMS_AREA, key: zone, value }],
      });
    } catch (error) {
      logger.warn('a doubtful claim could not be recorded', { zone, error: errorText(error) });
    }
  }
}

function decodeDoubtfulClaim({ claim, detail, instance, seenAt }: JsonObject): DoubtfulClaim | undefined {
  if (claim !== 'revision' && claim !== 'epoch') return undefined;
  if (typeof detail !== 'string' || typeof instance !== 'string' || typeof seenAt !== 'number') return undefined;
  return { claim, detail, instance, seenAt };
}

/** Maximum number of zones whose last ending is kept; the oldest is dropped first. */
const MAX_ENDINGS = 1_000;

/** A stream that this replica ended because of a message of the zone. */
export interface StreamEnding {
  readonly direction: 'up' | 'down';
  readonly reason: StreamEndReason;
  readonly detail: string;
  /** ms since 1970. */
  readonly at: number;
}

/** The last stream of each zone that this replica ended because of a message of the zone. */
export class StreamEndings {
  private readonly ends = new BoundedMap<StreamEnding>(MAX_ENDINGS);

  record(zone: string, end: StreamEnding): void {
    this.ends.set(zone, { ...end, detail: sanitizePeerText(end.detail) });
  }

  /** Returns the entry for the zone's insight; empty if no stream was ended. */
  document(zone: string): JsonObject {
    const end = this.ends.get(zone);
    return end ? { endedStream: { ...end } } : {};
  }
}
