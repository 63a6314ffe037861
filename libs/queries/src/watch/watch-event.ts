import type { Identity, Resource, StorePoint } from '@causeway/resources';

/** An encoded event. */
export type EncodedEvent = string | Buffer;

/** The encoding of watch events in one transport. Its methods are called once per reader and must be cheap. */
export interface EventEncoder {
  /** Encodes a resource in its current state. Readers share the buffer; use an EncodedPuts, so that it is in memory once. */
  put(resource: Resource): Buffer;
  /** Encodes a resource that was deleted or left the selection. */
  deleted(id: Identity): EncodedEvent;
  /** Encodes the point from which the reader can resume. */
  bookmark(point: StorePoint): EncodedEvent;
  /** Encodes an event followed by a bookmark as one buffer: one write instead of two, shared as that of `put`. */
  bookmarked(event: EncodedEvent, point: StorePoint): Buffer;
  /** The last event of a watch: the reader must list again. */
  readonly relist: EncodedEvent;
  /** An event without content that keeps the connection open. */
  readonly heartbeat: EncodedEvent;
}

/** Output of a watch: one open response of a transport. */
export interface WatchSink {
  readonly encoder: EventEncoder;
  /** Starts the response; `point` is the reader's position before the first event. */
  open(point: StorePoint): void;
  /** Returns false if the reader is slow; then wait for `drained`. A buffer is not copied. */
  write(event: EncodedEvent): boolean;
  /** Calls back once when the reader has read everything. */
  drained(callback: () => void): void;
  /** Aborts when the reader disconnects, or wants no events. */
  readonly gone: AbortSignal;
  /** Ends the response; `hard` also drops data that the reader has not read. */
  end(hard: boolean): void;
}

/** Limits of the cache: enough that all readers of a change share one buffer. */
const CACHED = { bytes: 8 * 1024 * 1024, events: 4_096 } as const;

/**
 * Encodes each resource once for all readers of one transport. The buffer is in memory once, even if many sockets hold
 * it. The newest buffers are cached, at most 8 MiB and one event.
 */
export class EncodedPuts {
  private readonly cache = new Map<Resource, { readonly encoded: Buffer; readonly as: unknown }>();
  private bytes = 0;

  /** A cached buffer is valid while `asOf` returns the same object for its resource: its shown but not stored state. */
  constructor(
    private readonly encode: (resource: Resource) => Buffer,
    private readonly asOf: (resource: Resource) => unknown = () => undefined,
  ) {}

  /** The buffer of a resource. */
  of(resource: Resource): Buffer {
    const cached = this.cache.get(resource);
    const as = this.asOf(resource);
    if (cached?.as === as && cached) return cached.encoded;
    const encoded = this.encode(resource);
    this.cache.set(resource, { encoded, as });
    this.bytes += encoded.length - (cached?.encoded.length ?? 0);
    this.evict();
    return encoded;
  }

  private evict(): void {
    for (const [resource, { encoded }] of this.cache) {
      if (this.cache.size <= 1 || (this.bytes <= CACHED.bytes && this.cache.size <= CACHED.events)) return;
      this.cache.delete(resource);
      this.bytes -= encoded.length;
    }
  }
}

/**
 * Joins events and the bookmark of the current point, each once for all readers of one transport. Readers of one change
 * have the same point object.
 */
export class BookmarkedEvents {
  private at: StorePoint | undefined;
  private bookmark: Buffer = Buffer.alloc(0);
  private readonly joined = new Map<EncodedEvent, Buffer>();
  private bytes = 0;

  constructor(private readonly encodeBookmark: (point: StorePoint) => EncodedEvent) {}

  /** The bookmark of a point. */
  of(point: StorePoint): Buffer {
    if (this.at !== point) {
      this.forget();
      this.bookmark = Buffer.from(this.encodeBookmark(point));
      this.at = point;
    }
    return this.bookmark;
  }

  /** Returns an event followed by the bookmark of a point. */
  behind(event: EncodedEvent, point: StorePoint): Buffer {
    const bookmark = this.of(point);
    const known = this.joined.get(event);
    if (known) return known;
    if (this.bytes > CACHED.bytes || this.joined.size >= CACHED.events) this.forget();
    const joined = Buffer.concat([Buffer.from(event), bookmark]);
    this.joined.set(event, joined);
    this.bytes += joined.length;
    return joined;
  }

  private forget(): void {
    this.joined.clear();
    this.bytes = 0;
  }
}

/** Returns an encoder that caches its last result, for readers that need the same encoding one after the other. */
export function encodedOnce<Thing extends object>(encode: (thing: Thing) => Buffer): (thing: Thing) => Buffer {
  let last: { readonly thing: Thing; readonly encoded: Buffer } | undefined;
  return (thing) => (last?.thing === thing ? last : (last = { thing, encoded: encode(thing) })).encoded;
}

/** Resume point of a watch; a point without incarnation belongs to the present store. */
export interface ResumeFrom {
  readonly incarnation?: string;
  readonly revision: number;
}

/** Encodes a point as text: the id that a client sends to resume. */
export function encodeResumePoint({ incarnation, revision }: StorePoint): string {
  return `${incarnation}.${revision}`;
}

/** Decodes an id, or a bare revision; undefined for other text. */
export function decodeResumePoint(text: string): ResumeFrom | undefined {
  const [, incarnation, revision] = /^(?:([A-Za-z0-9_-]{1,64})\.)?(\d{1,15})$/.exec(text) ?? [];
  if (revision === undefined) return undefined;
  return { revision: Number(revision), ...(incarnation === undefined ? {} : { incarnation }) };
}
