import { NotFound, type JsonObject } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import type { GlobalSyncOptions } from './global-sync-options';

/** Where refusals stand beside the log, by zone. */
export const REFUSED_STORES_AREA = 'zone-refusal';

/** A refused zone tries again within seconds: a refusal that is not renewed for so long is over, ms. */
const SHOWN = 600_000;

/** A refusal that is repeated is written at most so often, ms (design.md §2.8). */
const RENEW = 10_000;

/** A store that came under the name of a zone that is bound to another one. */
export interface RefusedStore {
  readonly storeId: string;
  /** The replica that asked. */
  readonly instance: string;
  /** Last, ms since 1970. */
  readonly refusedAt: number;
}

/** To which store a zone's name is bound after an adoption. */
export interface Adoption {
  readonly zone: string;
  /** Empty: the next store to open a session. */
  readonly storeId: string;
  /** Empty where it was bound to none. */
  readonly formerly: string;
}

type RefusedStoresOptions = Pick<GlobalSyncOptions, 'store' | 'sessions' | 'clock' | 'logger'>;

/** Stores that were refused under a zone's name, the last one a zone, and the operator's answer (design.md §5 Ownership). */
export class RefusedStores {
  private readonly written = new Map<string, RefusedStore>();

  constructor(private readonly parts: RefusedStoresOptions) {}

  /** Notes a refusal, so that the operator sees whom to adopt; never rejects. */
  async note(zone: string, storeId: string, instance: string): Promise<void> {
    const { store, clock, logger } = this.parts;
    const last = this.written.get(zone);
    const now = clock.now();
    if (last?.storeId === storeId && last.instance === instance && now - last.refusedAt < RENEW) return;
    const refused = { storeId, instance, refusedAt: now };
    this.written.set(zone, refused);
    try {
      const notes = [{ area: REFUSED_STORES_AREA, key: zone, value: { ...refused } }];
      await store.write({ changes: [], onRefusal: 'skip', notes });
    } catch (error) {
      logger.warn('a refusal could not be noted', { zone, storeId, error: errorText(error) });
    }
  }

  /** The store that is refused now; undefined where none is, or the operator has adopted it. */
  async of(zone: string): Promise<RefusedStore | undefined> {
    const note = await this.parts.store.note(REFUSED_STORES_AREA, zone);
    const refused = note && note['adopted'] !== true ? refusedIn(note) : undefined;
    return refused && this.parts.clock.now() - refused.refusedAt <= SHOWN ? refused : undefined;
  }

  /**
   * Binds a zone's name to the store with this id, by default to the one that was refused last, else to whichever comes
   * next. Saying it again changes nothing. Throws NotFound for a zone that never had a session.
   */
  async adopt(zone: string, storeId?: string): Promise<Adoption> {
    const { store, sessions, logger } = this.parts;
    const standing = await sessions.session(zone);
    if (!standing) throw new NotFound(`zone ${zone} never had a session with this global`);
    const note = (await store.note(REFUSED_STORES_AREA, zone)) ?? {};
    const refused = refusedIn(note);
    const wanted = storeId ?? refused?.storeId ?? '';
    if (await sessions.adopt(zone, wanted)) {
      logger.warn('a zone was adopted', { zone, storeId: wanted, formerly: standing.storeId });
    }
    if (refused?.storeId === wanted) {
      // Kept: an adoption that is repeated means the same store.
      const notes = [{ area: REFUSED_STORES_AREA, key: zone, value: { ...note, adopted: true } }];
      await store.write({ changes: [], onRefusal: 'skip', notes });
    }
    return { zone, storeId: wanted, formerly: standing.storeId };
  }
}

function refusedIn({ storeId, instance, refusedAt }: JsonObject): RefusedStore | undefined {
  if (typeof storeId !== 'string' || typeof instance !== 'string' || typeof refusedAt !== 'number') return undefined;
  return { storeId, instance, refusedAt };
}
