/** A zone asks for a session on the global (docs/design.md §5 Handshake). */
export interface SessionRequest {
  readonly zone: string;
  /** The id of the zone's store, to which the zone's name is bound; empty where the peer names none (Kuma). */
  readonly storeId: string;
  /** The incarnation of the zone's store; empty where not known. */
  readonly incarnation: string;
  /** The epoch of the zone's leader; 0 where the peer has none. */
  readonly epoch: number;
  /** The process that asks; for people to read. */
  readonly instance: string;
  /** The streams of the session. Kuma opens each on its own and gets a number for each; else `both`, the default. */
  readonly direction?: SessionDirection;
}

type SessionDirection = 'both' | 'up' | 'down';

/** The answer to a request: the number that now stands for the zone, or the refusal. */
export type SessionOpening =
  | {
      readonly type: 'opened';
      readonly session: number;
      /** The session before, of this or an earlier incarnation of the zone. */
      readonly previous?: { readonly session: number; readonly incarnation: string };
    }
  /** A leader of a later epoch of the same incarnation holds the session. */
  | { readonly type: 'older'; readonly epoch: number }
  /** The epoch lies more than a million above the standing one of the same incarnation: see `resetEpoch`. */
  | { readonly type: 'doubtful'; readonly epoch: number }
  /** The zone's name belongs to another store until `adopt`. */
  | { readonly type: 'other-store'; readonly boundTo: string };

/** The session that stands for a zone. */
export interface SessionRecord {
  readonly zone: string;
  /** Empty while the zone is bound to no store. */
  readonly storeId: string;
  readonly incarnation: string;
  /** -1: not known, so the next one is taken: the zone was adopted, or its epoch was reset. */
  readonly epoch: number;
  readonly instance: string;
  /** The numbers that stand for the stream zone → global and for global → zone; equal but for Kuma; 0 = none. */
  readonly up: number;
  readonly down: number;
  /** ms since 1970, the store's clock. */
  readonly openedAt: number;
}

/** The state of a zone whose session stands is held whole now, but for some kinds. */
export interface WholeMark {
  readonly zone: string;
  /** Of the stream zone → global. */
  readonly session: number;
  /** Kinds whose first state has not arrived completely. */
  readonly incomplete: readonly string[];
}

/**
 * Sessions of zones on the global: one row a zone, beside the log (docs/design.md §5 Newer wins). A write with a
 * `SessionFence` commits only while its number stands here; `open` waits for such writes that are under way, and when
 * it has resolved no write of an older session can commit. Numbers of a zone grow and are never given twice.
 */
export interface SessionStore {
  /**
   * Replaces the zone's session. A refusal changes nothing. Newer is a higher epoch within one incarnation, then the
   * later request; another incarnation is always newer. The first store that opens a session binds the zone's name.
   */
  open(request: SessionRequest): Promise<SessionOpening>;
  /**
   * Binds the zone's name to this store, ends the session of the store before and forgets its epoch; an empty id unbinds
   * the name, so that the next store to open a session gets it. False when the name was bound so already, or the zone
   * never had a session.
   */
  adopt(zone: string, storeId: string): Promise<boolean>;
  /**
   * Ends the zone's session and forgets its epoch: the next leader that asks is accepted, whatever its epoch. Returns
   * the epoch that stood; undefined where the zone never had a session.
   */
  resetEpoch(zone: string): Promise<number | undefined>;
  /**
   * Forgets the zone and what it was bound to, provided that `session` is its last. Its numbers are never reused: a
   * later session under this name begins above all numbers that were ever forgotten.
   */
  forget(zone: string, session: number): Promise<boolean>;
  /**
   * Marks now as a moment at which the whole states of these zones are held, by the store's clock; ignores those whose
   * session stands no more. The moment belongs to the zone: it outlasts the session, and goes with `forget`.
   */
  markWhole(marks: readonly WholeMark[]): Promise<void>;
  session(zone: string): Promise<SessionRecord | undefined>;
  /** Of all zones that ever had one. */
  sessions(): Promise<readonly SessionRecord[]>;
}
