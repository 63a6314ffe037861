import { Conflict, describeIdentity, type Identity } from '@causeway/resources';
import type { Change, ChangeResult, Refusal, WriteRequest } from './resource-store';

/** A refused change of a write that was rolled back. */
export interface RefusedChange {
  /** Index in the request. */
  readonly at: number;
  readonly change: Change;
  readonly refusal: Refusal;
  readonly detail: string;
}

/** A write with `onRefusal: 'abort'` was rolled back because of these changes. Nothing was written. */
export class RefusedWrite extends Conflict {
  constructor(readonly refused: readonly RefusedChange[]) {
    super(message(refused));
  }
}

/** Returns the error for the refused results of a request; `at` is their index in it. */
export function refusedWrite(
  changes: readonly Change[],
  refused: readonly { readonly at: number; readonly result: Extract<ChangeResult, { type: 'refused' }> }[],
): RefusedWrite {
  return new RefusedWrite(
    refused.flatMap(({ at, result }) => {
      const change = changes[at];
      return change ? [{ at, change, refusal: result.refusal, detail: result.detail }] : [];
    }),
  );
}

function message(refused: readonly RefusedChange[]): string {
  const shown = refused.slice(0, 3).map(({ detail }) => detail);
  const rest = refused.length - shown.length;
  return shown.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

/** Returns the results of a write whose `unchanged` read set has changed; throws RefusedWrite if all changes must be written. */
export function outdatedResults({ changes, onRefusal }: WriteRequest): readonly ChangeResult[] {
  const refusal = 'outdated';
  const results = changes.map((change) => {
    return { type: 'refused', refusal, detail: refusalDetail(change, refusal, {}) } as const;
  });
  if (onRefusal === 'abort')
    throw refusedWrite(
      changes,
      results.map((result, at) => ({ at, result })),
    );
  return results;
}

/** Reason for which a store refused a change. */
export interface RefusalFacts {
  /** Revision of the living row. */
  readonly revision?: number;
  /** Revision of the row at its origin. */
  readonly originRevision?: number;
  /** The resource that holds the address. */
  readonly holder?: Identity;
  /** Reason why it cannot be stored. */
  readonly reason?: string;
}

/** Returns one line for the operator: which resource, and why its change was refused. */
export function refusalDetail(change: Change, refusal: Refusal, facts: RefusalFacts): string {
  return `${describeIdentity(change.id)}: ${explain(change, refusal, facts)}`;
}

function explain(change: Change, refusal: Refusal, { revision, originRevision, holder, reason }: RefusalFacts): string {
  switch (refusal) {
    case 'conflict':
      return revision === undefined ? 'no longer exists' : `is at revision ${revision}, not ${change.expect}`;
    case 'exists':
      return 'exists already';
    case 'absent':
      return 'does not exist';
    case 'older':
      return `a later state of its origin is held, of revision ${originRevision ?? 0} there`;
    case 'vip-taken':
      return `address ${getVip(change)} is held by ${holder ? describeIdentity(holder) : 'another'}`;
    case 'outdated':
      return 'what the write was decided from has changed since';
    case 'unstorable':
      return reason ?? 'cannot be stored';
  }
}

function getVip(change: Change): string {
  return change.type === 'patch' ? String(change.vip) : '';
}
