import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { Note, ResourceStore } from '@causeway/store';
import { NO_LIFE, type KnownLife } from '@causeway/sync';

/** State of one kind that was taken in completely (cw-resume). */
export interface Point {
  readonly incarnation: string;
  readonly revision: number;
  /** Hash of the rules that the state was cut by. */
  readonly view: string;
}

const LIFE = 'life';
const POINT = 'point/';

/** Where it stands beside the log. */
export function peerArea(peer: string): string {
  return `sync/${peer}`;
}

/**
 * What this control plane remembers of a peer, beside the log: how much of the peer's state it holds, and the lives of
 * the peer's store. Read when a session begins; each fact is written with the changes that it speaks of.
 */
export class PeerBook {
  private readonly points = new Map<string, Point>();
  private current: KnownLife = NO_LIFE;
  private readonly area: string;

  private constructor(peer: string) {
    this.area = peerArea(peer);
  }

  /** `peer` is a zone's name, or empty for the global. */
  static async read(store: ResourceStore, peer: string): Promise<PeerBook> {
    const book = new PeerBook(peer);
    for (const { key, value } of await store.notes(book.area)) {
      if (value === null) continue;
      if (key === LIFE) book.current = lifeOf(value);
      const point = key.startsWith(POINT) ? pointOf(value) : undefined;
      if (point) book.points.set(key.slice(POINT.length), point);
    }
    return book;
  }

  get life(): KnownLife {
    return this.current;
  }

  /** The points by kind. */
  all(): ReadonlyMap<string, Point> {
    return this.points;
  }

  /** Remembers a point; the note is written with the state. */
  reach(kind: string, point: Point): Note {
    this.points.set(kind, point);
    return { area: this.area, key: POINT + kind, value: { ...point } };
  }

  /** Remembers what is known of the peer's lives; undefined when that is nothing new. */
  learn(life: KnownLife): Note | undefined {
    if (life === this.current || sameLife(life, this.current)) return undefined;
    this.current = life;
    const { accepted, pending } = life;
    return { area: this.area, key: LIFE, value: { accepted, ...(pending ? { pending: { ...pending } } : {}) } };
  }
}

function pointOf({ incarnation, revision, view }: JsonObject): Point | undefined {
  if (typeof incarnation !== 'string' || typeof revision !== 'number' || typeof view !== 'string') return undefined;
  return { incarnation, revision, view };
}

function lifeOf({ accepted, pending }: JsonObject): KnownLife {
  const known = { accepted: typeof accepted === 'string' ? accepted : '' };
  if (!isJsonObject(pending)) return known;
  const { incarnation, since } = pending;
  if (typeof incarnation !== 'string' || typeof since !== 'number') return known;
  return { ...known, pending: { incarnation, since } };
}

function sameLife(a: KnownLife, b: KnownLife): boolean {
  return (
    a.accepted === b.accepted &&
    a.pending?.incarnation === b.pending?.incarnation &&
    a.pending?.since === b.pending?.since
  );
}
