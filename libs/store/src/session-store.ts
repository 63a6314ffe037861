/** Request of a zone for a session on the global (docs/design.md §5 Handshake). */
export interface SessionRequest {
  readonly zone: string;
  /** Id of the zone's store, to which the zone's name is bound; empty if the peer sends none (Kuma). */
  readonly storeId: string;
  /** Incarnation of the zone's store; empty if unknown. */
  readonly incarnation: string;
  /** Epoch of the zone's leader; 0 if the peer has none. */
  readonly epoch: number;
  /** The requesting process, for people. */
  readonly instance: string;
  /** Streams of the session; `both` unless given. Kuma opens each separately and gets a number for each. */
  readonly direction?: SessionDirection;
}

type SessionDirection = 'both' | 'up' | 'down';

/** Answer to a request: the zone's current session number, or the refusal. */
export type SessionOpening =
  | {
      readonly type: 'opened';
      readonly session: number;
      /** The previous session, of this or an earlier incarnation of the zone. */
      readonly previous?: { readonly session: number; readonly incarnation: string };
    }
  /** A leader of a later epoch of the same incarnation has the session. */
  | { readonly type: 'older'; readonly epoch: number }
  /** The epoch is more than a million above the current one of the same incarnation: see `resetEpoch`. */
  | { readonly type: 'doubtful'; readonly epoch: number }
  /** The zone's name belongs to another store until `adopt`. */
  | { readonly type: 'other-store'; readonly boundTo: string };

/** The current session of a zone. */
export interface SessionRecord {
  readonly zone: string;
  /** Empty while the zone is bound to no store. */
  readonly storeId: string;
  readonly incarnation: string;
  /** -1: unknown, so the next one is accepted: the zone was adopted, or its epoch was reset. */
  readonly epoch: number;
  readonly instance: string;
  /** Current session numbers of the streams zone → global and global → zone; they differ for Kuma only; 0 = none. */
  readonly up: number;
  readonly down: number;
  /** ms since 1970, the store's clock. */
  readonly openedAt: number;
}

/** Marks that the global now has the complete state of a zone with a current session, except for some kinds. */
export interface WholeMark {
  readonly zone: string;
  /** Session number of the stream zone → global. */
  readonly session: number;
  /** Kinds whose first state has not arrived completely. */
  readonly incomplete: readonly string[];
}

/**
 * Sessions of zones on the global: one row per zone, beside the log (docs/design.md §5 Newer wins). A write with a
 * `SessionFence` commits only while its number is current here; `open` waits for pending writes, and after it has
 * resolved no write of an older session can commit. Numbers of a zone grow and are never reused.
 */
export interface SessionStore {
  /**
   * Replaces the zone's session. A refusal changes nothing. Within one incarnation the higher epoch is newer, then the
   * later request; another incarnation is always newer. The first store that opens a session binds the zone's name.
   */
  open(request: SessionRequest): Promise<SessionOpening>;
  /**
   * Binds the zone's name to this store, ends the former store's session and clears its epoch; an empty id unbinds the
   * name, so that the next store to open a session gets it. Returns false if the name was already bound like this, or
   * the zone never had a session.
   */
  adopt(zone: string, storeId: string): Promise<boolean>;
  /**
   * Ends the zone's session and clears its epoch: the next leader is accepted with any epoch. Returns the former epoch; undefined if the zone never
   * had a session.
   */
  resetEpoch(zone: string): Promise<number | undefined>;
  /**
   * Deletes the zone and its binding, if `session` is its last. Its numbers are never reused: a later session under
   * this name begins above all deleted numbers.
   */
  forget(zone: string, session: number): Promise<boolean>;
  /**
   * Records the current time, by the store's clock, as a moment at which the complete states of these zones are known;
   * ignores zones whose session is no longer current. The moment outlasts the session, and is deleted by `forget`.
   */
  markWhole(marks: readonly WholeMark[]): Promise<void>;
  session(zone: string): Promise<SessionRecord | undefined>;
  /** Returns the records of all zones that ever had a session. */
  sessions(): Promise<readonly SessionRecord[]>;
}
