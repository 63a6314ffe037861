/** A life of a peer's store that was accepted; `since`: first seen, ms since 1970. */
export interface AcceptedIncarnation {
  readonly incarnation: string;
  readonly since: number;
}

/** To which store a zone's name is bound. */
export interface ZoneAdoption {
  readonly zone: string;
  /** Empty: the next store that comes. */
  readonly storeId: string;
  /** Empty where it was bound to none. */
  readonly formerly: string;
}

/**
 * What only the operator can decide of sync (design.md §5); each control plane has what its role has, and the routes of
 * the others are 404. Saying a thing twice changes nothing. Methods throw DomainErrors.
 */
export interface SyncDecisions {
  /** The zone's new life is the true one; undefined where none is pending. On a global. */
  readonly confirmZone?: (zone: string) => Promise<AcceptedIncarnation | undefined>;
  /** Binds a zone's name to a store, by default to the one refused last. On a global. */
  readonly adoptZone?: (zone: string, storeId: string | undefined) => Promise<ZoneAdoption>;
  /** Forgets the epoch of the zone's leaders; the one that stood, -1 where none did. On a global. */
  readonly resetEpoch?: (zone: string) => Promise<number>;
  /** The global's new life is the true one; undefined where none is pending. On a zone. */
  readonly confirmGlobal?: () => Promise<AcceptedIncarnation | undefined>;
}
