import { describeIdentity, type Identity } from '@causeway/resources';
import type { Change, Refusal } from './resource-store';

/** What a store found where a change was refused. */
export interface RefusalFacts {
  /** Of the living row. */
  readonly revision?: number;
  /** How far the origin of the row had come. */
  readonly originRevision?: number;
  /** Who holds the address. */
  readonly holder?: Identity;
  /** Why it cannot be stored. */
  readonly reason?: string;
}

/** One line for the operator: which resource, and what stood in the way. */
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
      return `address ${vipOf(change)} is held by ${holder ? describeIdentity(holder) : 'another'}`;
    case 'unstorable':
      return reason ?? 'cannot be stored';
  }
}

function vipOf(change: Change): string {
  return change.type === 'patch' ? String(change.vip) : '';
}
