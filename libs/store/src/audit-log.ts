import { printableText, type Identity } from '@causeway/resources';
import type { LogFields } from '@causeway/runtime';

/** Sender of a request, and its origin. Created by `auditSource`, which bounds its texts. */
export interface AuditSource {
  readonly user: string;
  readonly groups: readonly string[];
  /**
   * Method of authentication: `user-token`, `oidc`, `operator-token`, `local-socket` (`localhost` in entries of former
   * versions), `nothing`.
   */
  readonly recognizedBy: string;
  /** The id of the token, never the token. */
  readonly tokenId?: string;
  /** Address of the client, as the connection has it. */
  readonly address: string;
  readonly via: AuditInterface;
  readonly userAgent: string;
  /** Id of the request, as in its answer. */
  readonly requestId?: string;
  /** Id of the request's trace, 32 hexadecimal digits. */
  readonly traceId?: string;
}

/** Interfaces for users; `in-process` means none. */
export type AuditInterface = 'REST' | 'gRPC' | 'in-process';

/** Subject of a request. Texts are empty if the request has none. */
export interface AuditSubject extends Identity {
  readonly verb: string;
  /** Action other than writing a resource: `issued a zone token`. */
  readonly activity: string;
}

/** `done`: the action succeeded. `refused`: nothing changed, and `reason` has the cause. */
export type AuditResult = 'done' | 'refused';

/** An entry that does not belong to a write: an activity, or a refusal. */
export interface AuditRecord extends AuditSource, AuditSubject {
  readonly result: AuditResult;
  /** Reason of a refusal; empty if it was done. */
  readonly reason: string;
  /** Time since the action, ms; entries are dated by the clock of the store. */
  readonly age: number;
}

/** Position of an entry in the log: its time in µs since 1970, and a unique number. */
export interface AuditPosition {
  readonly at: number;
  readonly number: number;
}

/** A stored entry. */
export interface AuditEntry extends AuditSource, AuditSubject {
  readonly position: AuditPosition;
  readonly result: AuditResult;
  readonly reason: string;
  /** Generation of the resource before the write; absent if the write created it. */
  readonly generationBefore?: number;
  /** Generation after the write; absent if the write deleted it. */
  readonly generationAfter?: number;
  /** Revision of the write. */
  readonly revision?: number;
}

/** Query for the entries that match all fields. */
export interface AuditQuery {
  readonly user?: string | undefined;
  readonly verb?: string | undefined;
  readonly kind?: string | undefined;
  readonly mesh?: string | undefined;
  readonly name?: string | undefined;
  readonly result?: AuditResult | undefined;
  /** Start of the period, ms since 1970; inclusive. */
  readonly since?: number | undefined;
  /** End of the period, ms since 1970; exclusive. */
  readonly until?: number | undefined;
  /** Maximum number of entries of the page. */
  readonly size: number;
  /** Returns only entries before this one; absent means the newest. */
  readonly after?: AuditPosition | undefined;
}

/** A page of the log, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Start of the next page. A page that is not full has one if the search ended early because of its cost. */
  readonly next?: AuditPosition;
}

/** Retention of the log. */
export interface AuditBounds {
  /** Maximum age, ms. */
  readonly age: number;
  readonly entries: number;
  /** Maximum number of refusals: callers without rights must not displace entries of actions. */
  readonly refusals: number;
}

/**
 * Log of the actions of users on one control plane, and of refusals. The entry of a write is committed with the write:
 * a change with `audit` (`PutChange`, `DeleteChange`) that writes something adds one entry, any other none. Entries
 * never change. Methods throw `Unavailable` while the database is unavailable.
 */
export interface AuditLog {
  /** Stores entries that do not belong to a write, all or none. */
  record(records: readonly AuditRecord[]): Promise<void>;
  /** Returns a page of the log. Following `next` returns every entry committed before the first page exactly once. */
  page(query: AuditQuery): Promise<AuditPage>;
  /** Deletes the oldest entries beyond the bounds; returns their number. */
  purge(bounds: AuditBounds): Promise<number>;
}

/** Facts about a caller from an interface, unbounded. */
export type UnboundedSource = Omit<AuditSource, OptionalId> & Readonly<Partial<Record<OptionalId, string | undefined>>>;

const IDS = ['tokenId', 'requestId', 'traceId'] as const;
type OptionalId = (typeof IDS)[number];

/** Maximum length of the texts of an entry, in characters, and maximum number of groups. */
const MAX_TEXT = 200;
const MAX_USER_AGENT = 100;
const MAX_GROUPS = 20;

/** Returns a text in the form of entries: at most 200 characters, all printable. */
export function auditText(text: string, most = MAX_TEXT): string {
  return printableText(text, most);
}

/** Returns a source with bounded texts and lists. */
export function auditSource(source: UnboundedSource): AuditSource {
  const { user, groups, recognizedBy, address, via, userAgent } = source;
  const ids = IDS.flatMap((name) => (source[name] === undefined ? [] : [[name, auditText(source[name])] as const]));
  return {
    user: auditText(user),
    groups: groups.slice(0, MAX_GROUPS).map((group) => auditText(group)),
    recognizedBy: auditText(recognizedBy),
    address: auditText(address),
    via,
    userAgent: auditText(userAgent, MAX_USER_AGENT),
    ...Object.fromEntries(ids),
  };
}

/** Returns the fields of an entry for the program's log; empty fields are left out. */
export function auditFields(source: AuditSource, subject: AuditSubject, more: LogFields): LogFields {
  const { user, recognizedBy, tokenId, address, via, userAgent, requestId, traceId } = source;
  const { verb, kind, mesh, zone, namespace, name, activity } = subject;
  const who = { user, recognizedBy, tokenId, address, via, userAgent, requestId, traceId };
  const fields = { ...who, verb, kind, mesh, zone, namespace, name, activity, ...more };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
}
