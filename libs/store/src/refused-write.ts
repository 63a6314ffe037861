import { Conflict } from '@causeway/resources';
import type { Change, ChangeResult, Refusal } from './resource-store';

/** One change of a write that was undone. */
export interface RefusedChange {
  /** Its place in the request. */
  readonly at: number;
  readonly change: Change;
  readonly refusal: Refusal;
  readonly detail: string;
}

/** A write with `onRefusal: 'abort'` was undone; says which changes stood in the way. Nothing was written. */
export class RefusedWrite extends Conflict {
  constructor(readonly refused: readonly RefusedChange[]) {
    super(message(refused));
  }
}

/** The error for the refused results of a request; `at` is their place in it. */
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
