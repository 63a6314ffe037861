import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import type { MetadataEntry, ResourceStore } from '@causeway/store';
import {
  confirmIncarnation,
  isConfirmed,
  NO_INCARNATION,
  type KnownIncarnation,
  type PendingIncarnation,
} from '@causeway/sync';

/** A position up to which one kind of a peer's state was completely received (extension cw-resume). */
export interface ResumePoint {
  readonly incarnation: string;
  readonly revision: number;
  /** Hash of the rules that selected the state. */
  readonly view: string;
  /** The peer recognises by it a point that it issued; absent from older peers. */
  readonly mac?: string;
}

const INCARNATION = 'incarnation';
const CONFIRMED = 'confirmed';
const POINT = 'point/';

/** The global as a peer of a zone. */
export const GLOBAL_PEER = '';

/** Returns the area of the metadata entries about a peer. */
export function peerArea(peer: string): string {
  return `sync/${peer}`;
}

/** Returns the metadata entry that deletes a resume point, so that the peer sends the full state of the kind in its next session. */
export function toPointDeletion(peer: string, kind: string): MetadataEntry {
  return { area: peerArea(peer), key: POINT + kind, value: null };
}

/**
 * Accepts the pending incarnation of a peer for the operator, on any replica, by a metadata entry: the replica with the
 * peer's stream reads it, and so does every later session. Returns the incarnation; undefined if none is pending.
 * Idempotent. `peer` as for `PeerState.read`. Throws Unavailable.
 */
export async function confirmPeerIncarnation(
  store: ResourceStore,
  peer: string,
): Promise<PendingIncarnation | undefined> {
  const area = peerArea(peer);
  const { pending } = decodeKnownIncarnation((await store.readMetadata(area, INCARNATION)) ?? {});
  if (!pending) return undefined;
  const entries = [{ area, key: CONFIRMED, value: { ...pending } }];
  await store.write({ changes: [], onRefusal: 'skip', metadata: entries });
  return pending;
}

/** Acts on the operator's confirmation of a peer's pending incarnation. */
export interface ConfirmationListener {
  /** The pending incarnation is confirmed. Never rejects. */
  confirmed(): Promise<void>;
  /** The confirmation could not be read. */
  failed(error: unknown): void;
}

/**
 * Stored state of a peer, in metadata entries: its resume points, and the accepted and the pending incarnation of its
 * store. Read when a session begins; each entry is written with the changes that it describes. Also checks whether the
 * operator has confirmed the pending incarnation.
 */
export class PeerState {
  private readonly points = new Map<string, ResumePoint>();
  /** The digest of the rules that excluded resources when the point was reached, by kind. */
  private readonly digests = new Map<string, string>();
  private current: KnownIncarnation = NO_INCARNATION;
  /** The incarnation that the operator confirmed last. */
  private confirmation: PendingIncarnation | undefined;
  private listener: ConfirmationListener | undefined;
  private readonly area: string;

  private constructor(
    private readonly store: ResourceStore,
    private readonly peer: string,
    private readonly getDigest: (kind: string) => string,
  ) {
    this.area = peerArea(peer);
  }

  /**
   * `peer` is a zone's name, or GLOBAL_PEER. `digestOf` returns the digest of the rules that exclude resources of a
   * kind now: a point with another digest describes another state. Throws Unavailable.
   */
  static async read(
    store: ResourceStore,
    peer: string,
    digestOf: (kind: string) => string = () => '',
  ): Promise<PeerState> {
    const state = new PeerState(store, peer, digestOf);
    for (const { key, value } of await store.listMetadata(state.area)) {
      if (value === null) continue;
      if (key === INCARNATION) state.current = decodeKnownIncarnation(value);
      if (key === CONFIRMED) state.confirmation = decodePending(value);
      const point = key.startsWith(POINT) ? decodePoint(value) : undefined;
      if (!point) continue;
      const { cut } = value;
      state.points.set(key.slice(POINT.length), point);
      state.digests.set(key.slice(POINT.length), typeof cut === 'string' ? cut : '');
    }
    return state;
  }

  /** The accepted incarnation of the peer's store, and the pending one. */
  get incarnation(): KnownIncarnation {
    return isConfirmed(this.current, this.confirmation) ? confirmIncarnation(this.current) : this.current;
  }

  /** The incarnation that is not accepted yet. */
  get pending(): PendingIncarnation | undefined {
    return this.incarnation.pending;
  }

  /** Calls `listener` when `checkConfirmation` finds a confirmation, until the returned function is called. */
  onConfirmed(listener: ConfirmationListener): () => void {
    this.listener = listener;
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }

  /**
   * Reads whether the operator has confirmed the pending incarnation; resolves when the listener has acted on it. Does
   * nothing without a listener. Never rejects.
   */
  async checkConfirmation(): Promise<void> {
    const { listener } = this;
    if (!listener || !this.current.pending) return;
    try {
      this.confirmation = decodePending(await this.store.readMetadata(this.area, CONFIRMED));
      if (isConfirmed(this.current, this.confirmation)) await this.listener?.confirmed();
    } catch (error) {
      listener.failed(error);
    }
  }

  /** Returns the resume points by kind. */
  resumePoints(): ReadonlyMap<string, ResumePoint> {
    return this.points;
  }

  /** Returns the points that describe the state under the current exclusion rules: the peer need not send that state again. */
  resumablePoints(): ReadonlyMap<string, ResumePoint> {
    return new Map([...this.points].filter(([kind]) => this.digests.get(kind) === this.getDigest(kind)));
  }

  /** Records a point; write the returned entry with the state. */
  recordPoint(kind: string, point: ResumePoint): MetadataEntry {
    const digest = this.getDigest(kind);
    this.points.set(kind, point);
    this.digests.set(kind, digest);
    return { area: this.area, key: POINT + kind, value: { ...point, ...(digest === '' ? {} : { cut: digest }) } };
  }

  /** Deletes all points of an incarnation; write the returned entries. */
  forgetPoints(incarnation: string): MetadataEntry[] {
    const kinds = [...this.points].filter(([, point]) => point.incarnation === incarnation).map(([kind]) => kind);
    for (const kind of kinds) this.points.delete(kind);
    return kinds.map((kind) => toPointDeletion(this.peer, kind));
  }

  /** Records the incarnations; write the returned entry. Undefined if nothing has changed. */
  recordIncarnation(known: KnownIncarnation): MetadataEntry | undefined {
    const entry = this.incarnationEntry(known);
    if (entry) this.current = known;
    return entry;
  }

  /** Returns the entry that `recordIncarnation` would return. */
  incarnationEntry(known: KnownIncarnation): MetadataEntry | undefined {
    if (known === this.current || isSameIncarnation(known, this.current)) return undefined;
    const { accepted, pending } = known;
    return { area: this.area, key: INCARNATION, value: { accepted, ...(pending ? { pending: { ...pending } } : {}) } };
  }
}

function decodePoint({ incarnation, revision, view, mac }: JsonObject): ResumePoint | undefined {
  if (typeof incarnation !== 'string' || typeof view !== 'string') return undefined;
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 0) return undefined;
  return { incarnation, revision, view, ...(typeof mac === 'string' ? { mac } : {}) };
}

function decodeKnownIncarnation({ accepted, pending }: JsonObject): KnownIncarnation {
  const known = { accepted: typeof accepted === 'string' ? accepted : '' };
  const decoded = decodePending(pending);
  return decoded ? { ...known, pending: decoded } : known;
}

function decodePending(value: JsonValue | undefined): PendingIncarnation | undefined {
  if (!isJsonObject(value)) return undefined;
  const { incarnation, since } = value;
  return typeof incarnation === 'string' && typeof since === 'number' ? { incarnation, since } : undefined;
}

function isSameIncarnation(a: KnownIncarnation, b: KnownIncarnation): boolean {
  return (
    a.accepted === b.accepted &&
    a.pending?.incarnation === b.pending?.incarnation &&
    a.pending?.since === b.pending?.since
  );
}
