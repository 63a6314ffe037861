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
  /** The address of the client, as the connection shows it. */
  readonly address: string;
  readonly via: AuditInterface;
  readonly userAgent: string;
  /** The id of the request, as its answer says it. */
  readonly requestId?: string;
  /** The id of the trace that the request belongs to, in 32 hexadecimal digits. */
  readonly traceId?: string;
}

/** The interfaces through which users come; `in-process`: none. */
export type AuditInterface = 'REST' | 'gRPC' | 'in-process';

/** Subject of a request. Texts are empty if the request names none. */
export interface AuditSubject extends Identity {
  readonly verb: string;
  /** Action other than writing a resource: `issued a zone token`. */
  readonly activity: string;
}

/** `done`: it has happened. `refused`: nothing has happened, and `reason` says why. */
export type AuditResult = 'done' | 'refused';

/** An entry that no write carries: an activity, or a refusal. */
export interface AuditRecord extends AuditSource, AuditSubject {
  readonly result: AuditResult;
  /** Why it was refused; empty if it was done. */
  readonly reason: string;
  /** Time since it happened, ms; entries are dated by the clock of the store. */
  readonly age: number;
}

/** The place of an entry in the order of the log: its time in µs since 1970, and a number that no two entries share. */
export interface AuditPosition {
  readonly at: number;
  readonly number: number;
}

/** An entry as it is stored. */
export interface AuditEntry extends AuditSource, AuditSubject {
  readonly position: AuditPosition;
  readonly result: AuditResult;
  readonly reason: string;
  /** The generation of the resource before the write; absent where the write created it. */
  readonly generationBefore?: number;
  /** The generation after the write; absent where the write deleted it. */
  readonly generationAfter?: number;
  /** The revision of the write. */
  readonly revision?: number;
}

/** Which entries are wanted: those that match all fields. */
export interface AuditQuery {
  readonly user?: string | undefined;
  readonly verb?: string | undefined;
  readonly kind?: string | undefined;
  readonly mesh?: string | undefined;
  readonly name?: string | undefined;
  readonly result?: AuditResult | undefined;
  /** From this time on, ms since 1970. */
  readonly since?: number | undefined;
  /** Before this time, ms since 1970. */
  readonly until?: number | undefined;
  /** Maximum number of entries of the page. */
  readonly size: number;
  /** Only entries before this one; the newest first where it is absent. */
  readonly after?: AuditPosition | undefined;
}

/** A page of the log, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** Start of the next page. A page that is not full has one if the search was ended because of its cost. */
  readonly next?: AuditPosition;
}

/** Retention of the log. */
export interface AuditBounds {
  /** ms. */
  readonly age: number;
  readonly entries: number;
  /** Of them refusals: callers that may do nothing must not push out what was done. */
  readonly refusals: number;
}

/**
 * Log of the actions of users on one control plane, and of refusals. The entry of a write is committed with the write:
 * a change that has an `audit` (`PutChange`, `DeleteChange`) and writes something leaves one entry, any other none.
 * Entries are never changed. Methods throw `Unavailable` if the database is unavailable.
 */
export interface AuditLog {
  /** Stores entries that no write carries, all or none. */
  record(records: readonly AuditRecord[]): Promise<void>;
  /**
   * A page of the log. Pages that follow `next` show every entry that was committed before the first of them once.
   */
  page(query: AuditQuery): Promise<AuditPage>;
  /** Deletes what goes beyond the bounds, oldest first, and returns the number of entries deleted. */
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

/** A text as entries hold it: at most 200 characters, each of them printable. */
export function auditText(text: string, most = MAX_TEXT): string {
  return printableText(text, most);
}

/** A source whose texts and lists are bounded. */
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
