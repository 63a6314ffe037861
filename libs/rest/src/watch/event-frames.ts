import type { Identity, Resource, StorePoint } from '@causeway/resources';
import type { ResourceJson } from '../read/resource-json';

/** What a watch tells: a resource as it is now, one that went, how far the reader is, or that it must list again. */
export type WatchEventType = 'put' | 'delete' | 'bookmark' | 'relist';

/** A comment that keeps connections open and tells a reader nothing. */
export const HEARTBEAT = ': heartbeat\n\n';

/** Kept frames: enough that all readers of a change share one. */
const KEPT = { bytes: 8 * 1024 * 1024, frames: 4_096 } as const;

/**
 * The events of resources as bytes. All readers get the same buffer: it is made once and, while sockets hold it, is in
 * memory once. The newest are kept, at most 8 MiB and one frame.
 */
export class EventFrames {
  private readonly kept = new Map<Resource, Buffer>();
  private bytes = 0;

  constructor(private readonly texts: ResourceJson) {}

  /** The event that tells a resource as it is. */
  put(resource: Resource): Buffer {
    const known = this.kept.get(resource);
    if (known) return known;
    const made = Buffer.from(frame('put', this.texts.listed(resource)));
    this.kept.set(resource, made);
    this.bytes += made.length;
    this.drop();
    return made;
  }

  private drop(): void {
    for (const [resource, { length }] of this.kept) {
      if (this.kept.size <= 1 || (this.bytes <= KEPT.bytes && this.kept.size <= KEPT.frames)) return;
      this.kept.delete(resource);
      this.bytes -= length;
    }
  }
}

/** One server-sent event; `data` is JSON on one line. With `id` a reader that saw it can go on behind it. */
export function frame(event: WatchEventType, data: string, id?: StorePoint): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${eventId(id)}\n`}data: ${data}\n\n`;
}

/** `Last-Event-ID` of a point in the life of a store. */
export function eventId({ incarnation, revision }: StorePoint): string {
  return `${incarnation}.${revision}`;
}

/** The point behind an event id, or a bare revision, which means this incarnation; undefined for other text. */
export function parseEventId(text: string): { readonly incarnation?: string; readonly revision: number } | undefined {
  const [, incarnation, revision] = /^(?:([A-Za-z0-9_-]{1,64})\.)?(\d{1,15})$/.exec(text) ?? [];
  if (revision === undefined) return undefined;
  return { revision: Number(revision), ...(incarnation === undefined ? {} : { incarnation }) };
}

/** What is said of a resource that went: its identity. */
export function identityJson({ kind, mesh, zone, namespace, name }: Identity): string {
  return JSON.stringify({
    type: kind,
    ...(mesh === '' ? {} : { mesh }),
    ...(namespace === '' ? {} : { namespace }),
    name,
    zone,
  });
}
