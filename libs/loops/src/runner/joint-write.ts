import { identityKey, jsonEqual, type JsonObject } from '@causeway/resources';
import type { Change, ChangeResult, MetadataEntry, PatchChange, IndexReader, WriteResult } from '@causeway/store';
import type { LoopPlan } from './control-loop';

/**
 * The plans that several loops made from one state of the index, as one write. Changes of different parts of one resource are merged; of two changes
 * of the same part the later is deferred, and its loop plans again.
 */
export interface JointWrite {
  readonly changes: readonly Change[];
  readonly metadata: readonly MetadataEntry[];
  /** Returns the results of one plan, by its position; a deferred change is reported as refused by a conflict. */
  getPlanResult(plan: number, result: WriteResult): PlanResult;
}

/** The results of one plan of a joint write. */
interface PlanResult extends WriteResult {
  /** The number of its changes that were deferred because of another loop's change. */
  readonly deferred: number;
}

/** Joins plans in the order of their loops. `index`: the state that they were made from. */
export function joinPlans(plans: readonly LoopPlan[], index: IndexReader): JointWrite {
  const changes: Change[] = [];
  const places = new Map<string, number>();
  const placesByPlan = plans.map((plan) =>
    plan.changes.map((change): number | undefined => {
      const key = identityKey(change.id);
      const place = places.get(key);
      if (place === undefined) {
        places.set(key, changes.length);
        return changes.push(change) - 1;
      }
      const joined = joinChanges(changes[place], change, index);
      if (joined) changes[place] = joined;
      return joined && place;
    }),
  );
  return {
    changes,
    metadata: plans.flatMap(({ metadata = [] }) => metadata),
    getPlanResult: (plan, { revision, results }) => {
      const own = (placesByPlan[plan] ?? []).map((place) =>
        place === undefined ? DEFERRED : (results[place] ?? DEFERRED),
      );
      return { revision, results: own, deferred: own.filter((result) => result === DEFERRED).length };
    },
  };
}

const DEFERRED: ChangeResult = { type: 'refused', refusal: 'conflict', detail: 'another control loop writes it now' };

/** Merges two changes; undefined if both change the same part. */
function joinChanges(first: Change | undefined, second: Change, index: IndexReader): PatchChange | undefined {
  if (first?.type !== 'patch' || second.type !== 'patch' || first.expect !== second.expect) return undefined;
  const row = index.byIdentityKey(identityKey(second.id));
  if (!row || row.revision !== second.expect || overlap(first, second)) return undefined;
  const status = joinStatus(row.status ?? {}, first.status, second.status);
  return status === undefined ? undefined : { ...first, ...second, ...status };
}

function overlap(first: PatchChange, second: PatchChange): boolean {
  return (['spec', 'vip', 'graceStartedAt'] as const).some(
    (part) => first[part] !== undefined && second[part] !== undefined,
  );
}

function joinStatus(
  base: JsonObject,
  first: JsonObject | undefined,
  second: JsonObject | undefined,
): { readonly status?: JsonObject } | undefined {
  if (!first || !second) return first || second ? { status: { ...first, ...second } } : {};
  const moved = differences(base, second);
  if (differences(base, first).some((key) => moved.includes(key))) return undefined;
  const kept = Object.entries(first).filter(([key]) => !moved.includes(key));
  const added = Object.entries(second).filter(([key]) => moved.includes(key));
  return { status: Object.fromEntries([...kept, ...added]) };
}

function differences(base: JsonObject, status: JsonObject): readonly string[] {
  const keys = new Set([...Object.keys(base), ...Object.keys(status)]);
  return [...keys].filter((key) => !jsonEqual(base[key], status[key]));
}
