import {
  toAuditSource,
  refusalReason,
  RateLimited,
  type AuditRecorder,
  type Caller,
  type CallerOrigin,
} from '@causeway/access';
import { Unparsable } from '@causeway/yaml';
import { InvalidQuery, type Queries } from '@causeway/queries';
import { DomainError, Forbidden, isJsonObject, Unavailable, type Registry } from '@causeway/resources';
import type { AuditSubject } from '@causeway/store';
import type { Metadata } from '@grpc/grpc-js';
import { ExhaustedError } from './call-error';
import { readCallIds } from './call-observer';

/** A call that may have been refused. */
export interface RefusableCall {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly metadata: Metadata;
  readonly caller: Caller;
  /** The address of the client. */
  readonly address: string;
}

/** Dependencies of recording refused calls. */
export interface CallAuditParts {
  readonly recorder: AuditRecorder;
  readonly registry: Registry;
  readonly queries: Pick<Queries, 'defaultMesh'>;
}

/** Verbs of the methods, as in REST; all other methods only read. */
const VERBS: ReadonlyMap<string, string> = new Map([
  ['/causeway.v1.ResourceService/Apply', 'put'],
  ['/causeway.v1.ResourceService/Delete', 'delete'],
]);

/** Returns the origin of a call. */
export function callOrigin(address: string, metadata: Metadata): CallerOrigin {
  return { address, via: 'gRPC', userAgent: metadata.get('user-agent')[0]?.toString(), ...readCallIds(metadata) };
}

/**
 * Writes refused calls of the gRPC API to the audit log (docs/guides/audit.md). The entries of writes are committed
 * with the writes, and the refused documents of an Apply are recorded one by one.
 */
export class CallAudit {
  constructor(private readonly parts: CallAuditParts) {}

  /** Records a call that ended with `error`, if the audit log includes such calls; `request` is the message, if it was read. */
  refused({ path, metadata, caller, address }: RefusableCall, error: unknown, request?: unknown): void {
    const { recorder, registry } = this.parts;
    if (!isRecorded(error, VERBS.has(path) && !isDryRun(request))) return;
    const subject = this.readSubject(path, request);
    const confidential = registry.kind(subject.kind)?.confidential === true;
    recorder.refused(toAuditSource(caller, callOrigin(address, metadata)), subject, auditReason(error, confidential));
  }

  /** Returns the subject of a call: the resource that its request names, or the kind and mesh for several. */
  private readSubject(path: string, request: unknown): AuditSubject {
    const { name, selection } = isJsonObject(request) ? request : {};
    const about = isJsonObject(name) ? name : isJsonObject(selection) ? selection : {};
    const { registry, queries } = this.parts;
    const kind = registry.kind(readText(about['kind']));
    const meansExpected = kind?.scope === 'mesh' && (about === name || about['expectedMesh'] === true);
    const mesh = readText(about['mesh']) || (meansExpected ? queries.defaultMesh : '');
    return {
      verb: VERBS.get(path) ?? 'get',
      kind: kind?.name ?? '',
      mesh,
      zone: readText(about['zone']),
      namespace: readText(about['namespace']),
      name: readText(about['name']),
      activity: kind ? '' : path,
    };
  }
}

/** Returns whether a refusal is recorded: denied access always; other errors that REST answers with 4xx only for calls that write. */
function isRecorded(error: unknown, writes: boolean): boolean {
  if (error instanceof Forbidden || error instanceof RateLimited) return true;
  const isClients =
    error instanceof ExhaustedError || (error instanceof DomainError && !(error instanceof Unavailable));
  return writes && isClients;
}

/** Returns the reason without quoting the request: it may contain a secret. */
function auditReason(error: unknown, confidential: boolean): string {
  if (error instanceof InvalidQuery || error instanceof Unparsable) return 'the request cannot be read';
  if (error instanceof DomainError) return refusalReason(error, confidential);
  return error instanceof Error ? error.message : 'refused';
}

function isDryRun(request: unknown): boolean {
  return isJsonObject(request) && request['dryRun'] === true;
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
