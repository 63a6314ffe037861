import type { AuditEntry } from '@causeway/api';
import type { Registry } from '@causeway/resources';
import type { AuditEntry as StoredEntry, AuditLog, AuditPage, AuditPosition, AuditQuery } from '@causeway/store';

/** A page of the audit log as users see it. */
export interface AuditList {
  readonly items: readonly AuditEntry[];
  /** The cursor of the next page; undefined at the end. */
  readonly next: string | undefined;
}

/** Query of the audit log by a user; empty texts match empty values. */
export type AuditRequest = AuditQuery;

/** The audit log for callers on any interface. The interface checks whether they may read it. */
export class AuditQueries {
  constructor(
    private readonly log: AuditLog,
    private readonly registry: Registry,
  ) {}

  /** Returns a page, newest first. Rejects with Unavailable if the database is down. */
  async page(request: AuditRequest): Promise<AuditList> {
    const page: AuditPage = await this.log.page(this.withPlace(request));
    return { items: page.entries.map(entryJson), next: page.next && encodeAuditCursor(page.next) };
  }

  /** Adds the mesh '' for kinds without a mesh, as all their entries have it: the database can then use an index. */
  private withPlace(request: AuditRequest): AuditQuery {
    const kind = request.kind === undefined ? undefined : this.registry.kind(request.kind);
    if (!kind) return request;
    return { ...request, kind: kind.name, ...(kind.scope === 'global' && request.mesh === undefined && { mesh: '' }) };
  }
}

/** Encodes a position as text for a URL or a page token. Opaque to users: only `decodeAuditCursor` reads it. */
function encodeAuditCursor({ at, number }: AuditPosition): string {
  return Buffer.from(`${at}.${number}`, 'utf8').toString('base64url');
}

/** Decodes a cursor; undefined for text that `encodeAuditCursor` did not create. */
export function decodeAuditCursor(cursor: string): AuditPosition | undefined {
  const [, at, number] = /^(\d{1,16})\.(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  return at === undefined || number === undefined ? undefined : { at: Number(at), number: Number(number) };
}

/** Returns an entry as JSON, without absent fields. */
function entryJson({ position, user, groups, recognizedBy, via, result, ...entry }: StoredEntry): AuditEntry {
  const { tokenId, verb, kind, mesh, zone, namespace, name, activity, address, userAgent, requestId, traceId } = entry;
  const { reason, generationBefore, generationAfter, revision } = entry;
  return {
    time: new Date(Math.floor(position.at / 1_000)).toISOString(),
    user,
    groups,
    recognizedBy,
    ...given({ tokenId, verb, kind, mesh, zone, namespace, name, activity }),
    ...given({ address }),
    interface: via,
    ...given({ userAgent, requestId, traceId }),
    result,
    ...given({ reason, generationBefore, generationAfter, revision }),
  };
}

function given<F extends Readonly<Record<string, string | number | undefined>>>(fields: F): Partial<F> {
  const kept: Partial<F> = { ...fields };
  for (const [key, value] of Object.entries(fields))
    if (value === undefined || value === '') Reflect.deleteProperty(kept, key);
  return kept;
}
