import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import type { Note, ResourceStore } from '@causeway/store';
import {
  confirmIncarnation,
  isConfirmed,
  NO_INCARNATION,
  type KnownIncarnation,
  type PendingIncarnation,
} from '@causeway/sync';

/** State of one kind that was taken in completely (cw-resume). */
export interface ResumePoint {
  readonly incarnation: string;
  readonly revision: number;
  /** Hash of the rules that the state was cut by. */
  readonly view: string;
  /** By which the peer knows that it issued the point; absent from older peers. */
  readonly mac?: string;
}

const LIFE = 'life';
const CONFIRMED = 'confirmed';
const POINT = 'point/';

/** The peer's name of the global: there is one. */
export const GLOBAL_PEER = '';

/** Where it stands beside the log. */
export function peerArea(peer: string): string {
  return `sync/${peer}`;
}

/**
 * The operator accepts the new life of a peer, on any replica: written beside the log, where the replica that has the
 * stream finds it, and each later session. Answers with the life; undefined when none is pending. Saying it again
 * changes nothing. `peer` as for `PeerState.read`. Throws Unavailable.
 */
export async function confirmPeerIncarnation(
  store: ResourceStore,
  peer: string,
): Promise<PendingIncarnation | undefined> {
  const area = peerArea(peer);
  const { pending } = decodeKnownIncarnation((await store.note(area, LIFE)) ?? {});
  if (!pending) return undefined;
  const notes = [{ area, key: CONFIRMED, value: { ...pending } }];
  await store.write({ changes: [], onRefusal: 'skip', notes });
  return pending;
}

/**
 * What this control plane remembers of a peer, beside the log: how much of the peer's state it holds, and the lives of
 * the peer's store. Read when a session begins; each fact is written with the changes that it speaks of.
 */
export class PeerState {
  private readonly points = new Map<string, ResumePoint>();
  /** How the state at each point was cut here. */
  private readonly cuts = new Map<string, string>();
  private current: KnownIncarnation = NO_INCARNATION;
  /** The life that the operator accepted last. */
  private confirmation: PendingIncarnation | undefined;
  private readonly area: string;

  private constructor(
    private readonly store: ResourceStore,
    peer: string,
    private readonly cutOf: (kind: string) => string,
  ) {
    this.area = peerArea(peer);
  }

  /**
   * `peer` is a zone's name, or GLOBAL_PEER. `cutOf` says which resources of a kind are not taken in now, as a text: a
   * point that was reached under another text speaks of another state.
   */
  static async read(
    store: ResourceStore,
    peer: string,
    cutOf: (kind: string) => string = () => '',
  ): Promise<PeerState> {
    const book = new PeerState(store, peer, cutOf);
    for (const { key, value } of await store.notes(book.area)) {
      if (value === null) continue;
      if (key === LIFE) book.current = decodeKnownIncarnation(value);
      if (key === CONFIRMED) book.confirmation = decodePending(value);
      const point = key.startsWith(POINT) ? decodePoint(value) : undefined;
      if (!point) continue;
      const { cut } = value;
      book.points.set(key.slice(POINT.length), point);
      book.cuts.set(key.slice(POINT.length), typeof cut === 'string' ? cut : '');
    }
    return book;
  }

  get incarnation(): KnownIncarnation {
    return isConfirmed(this.current, this.confirmation) ? confirmIncarnation(this.current) : this.current;
  }

  /** Reads whether the operator has accepted the life that is pending. */
  async readConfirmation(): Promise<boolean> {
    if (!this.current.pending) return false;
    this.confirmation = decodePending(await this.store.note(this.area, CONFIRMED));
    return isConfirmed(this.current, this.confirmation);
  }

  /** The points by kind. */
  resumePoints(): ReadonlyMap<string, ResumePoint> {
    return this.points;
  }

  /** The points whose state was cut as it is now: the peer need not send it again. */
  resumablePoints(): ReadonlyMap<string, ResumePoint> {
    return new Map([...this.points].filter(([kind]) => this.cuts.get(kind) === this.cutOf(kind)));
  }

  /** Remembers a point; the note is written with the state. */
  recordPoint(kind: string, point: ResumePoint): Note {
    const cut = this.cutOf(kind);
    this.points.set(kind, point);
    this.cuts.set(kind, cut);
    return { area: this.area, key: POINT + kind, value: { ...point, ...(cut === '' ? {} : { cut }) } };
  }

  /** Forgets all points of a life; the notes are written with what was found to be wrong with them. */
  forgetPoints(incarnation: string): Note[] {
    const kinds = [...this.points].filter(([, point]) => point.incarnation === incarnation).map(([kind]) => kind);
    for (const kind of kinds) this.points.delete(kind);
    return kinds.map((kind) => ({ area: this.area, key: POINT + kind, value: null }));
  }

  /** Remembers what is known of the peer's lives; undefined when that is nothing new. */
  recordIncarnation(life: KnownIncarnation): Note | undefined {
    const note = this.incarnationNote(life);
    if (note) this.current = life;
    return note;
  }

  /** What `learn` would have written. */
  incarnationNote(life: KnownIncarnation): Note | undefined {
    if (life === this.current || isSameIncarnation(life, this.current)) return undefined;
    const { accepted, pending } = life;
    return { area: this.area, key: LIFE, value: { accepted, ...(pending ? { pending: { ...pending } } : {}) } };
  }
}

function decodePoint({ incarnation, revision, view, mac }: JsonObject): ResumePoint | undefined {
  if (typeof incarnation !== 'string' || typeof view !== 'string') return undefined;
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision < 0) return undefined;
  return { incarnation, revision, view, ...(typeof mac === 'string' ? { mac } : {}) };
}

function decodeKnownIncarnation({ accepted, pending }: JsonObject): KnownIncarnation {
  const known = { accepted: typeof accepted === 'string' ? accepted : '' };
  const life = decodePending(pending);
  return life ? { ...known, pending: life } : known;
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
