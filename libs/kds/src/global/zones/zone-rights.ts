import { toAccessTarget, type AccessPolicy } from '@causeway/access';
import { identityKey, type Identity } from '@causeway/resources';
import type { IndexChange, IndexedState, IndexReader } from '@causeway/store';

/** Zones' permissions to send, by RoleBindings (docs/design.md §6 Roles). */
export type ZoneRights = Pick<AccessPolicy, 'decideZone' | 'zoneDigest' | 'onZonesChanged'>;

/** Returns why the zone of a resource may not send it; undefined if it may. */
export function findZoneRefusal(rights: ZoneRights | undefined, id: Identity): string | undefined {
  // The digest is empty for the many zones that no binding names.
  if (!rights || rights.zoneDigest(id.zone) === '') return undefined;
  const { allowed, reason } = rights.decideZone(id.zone, toAccessTarget(id));
  return allowed ? undefined : reason;
}

/**
 * Copies on the global that their zones may not send: they were stored before a binding existed, or by a replica that
 * did not see the binding yet.
 */
export class ForbiddenCopies implements IndexedState {
  /** Zones whose copies must all be checked; undefined for every zone. */
  private zones: Set<string> | undefined;
  private readonly suspects = new Map<string, Identity>();
  private readonly unsubscribe: () => void;

  /** `onFound` is called when there may be such copies. */
  constructor(
    private readonly index: IndexReader,
    private readonly rights: ZoneRights | undefined,
    onFound: () => void,
  ) {
    const unsubscribe = rights?.onZonesChanged((zones) => {
      for (const zone of zones) this.zones?.add(zone);
      onFound();
    });
    this.unsubscribe = () => unsubscribe?.();
  }

  reload(): void {
    this.zones = undefined;
  }

  apply(changes: readonly IndexChange[]): void {
    for (const { key, id, after } of changes)
      if (after && id.zone !== '' && findZoneRefusal(this.rights, id) !== undefined) this.suspects.set(key, id);
  }

  /** Returns the copies to delete now and removes them from the list. Checks only copies of zones whose permissions changed. */
  take(): readonly Identity[] {
    if (!this.rights) return [];
    const { zones } = this;
    const found = new Map(this.suspects);
    const isStale = ({ zone }: Identity): boolean => zone !== '' && (!zones || zones.has(zone));
    if (!zones || zones.size > 0)
      for (const kind of this.index.kindNames())
        for (const { id } of this.index.ofKind(kind)) if (isStale(id)) found.set(identityKey(id), id);
    this.zones = new Set();
    this.suspects.clear();
    return [...found.values()].filter((id) => this.index.get(id) && findZoneRefusal(this.rights, id) !== undefined);
  }

  /** Checks every copy again, because deleting the returned copies failed. */
  giveBack(): void {
    this.zones = undefined;
  }

  close(): void {
    this.unsubscribe();
  }
}
