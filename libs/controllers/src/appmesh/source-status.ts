import { MEMBERSHIP_CONFLICT } from '@causeway/appmesh';
import { isGeneratedFrom, withCondition, withoutConditions, type Condition, type Resource } from '@causeway/resources';
import { NOT_NAMED } from './hostname-condition';
import { parentStatuses, ROUTED_BY_XROUTE, type BindingTable } from '@causeway/routing';
import type { PatchChange } from '@causeway/store';

/** True on a VirtualService at whose ports user routes are bound in place of its provider's. */
const ROUTED = `causeway.io/${ROUTED_BY_XROUTE}`;

/** True on a source while a user's object has the name of one that would be generated from it. */
const NAME_TAKEN = 'causeway.io/NameTaken';

/** Conditions that are removed while they are not true. */
const OPTIONAL = [MEMBERSHIP_CONFLICT, ROUTED, NAME_TAKEN, NOT_NAMED];

/** Returns the patch that updates the conditions of a source; undefined if they are up to date. */
export function planSourceStatus(
  { id, revision, status: before = {} }: Resource,
  conditions: readonly Condition[],
  now: number,
): PatchChange | undefined {
  const absent = OPTIONAL.filter((type) => !conditions.some((condition) => condition.type === type));
  const kept = withoutConditions(before, absent);
  const status = conditions.reduce((all, condition) => withCondition(all, condition, now), kept);
  return status === before ? undefined : { type: 'patch', id, expect: revision, status };
}

/** Returns the condition that names the routes which replace generated routes of a VirtualService; undefined where none does. */
export function routedCondition(
  routes: Iterable<string>,
  table: BindingTable,
  observedGeneration: number,
): Condition | undefined {
  const messages = [...routes].flatMap((key) => {
    const route = table.route(key);
    const statuses = route ? parentStatuses(table, route) : [];
    return statuses.flatMap(({ conditions }) => conditions.filter(({ reason }) => reason === ROUTED_BY_XROUTE));
  });
  const message = [...new Set(messages.map((condition) => condition.message))].sort().join(', ');
  if (message === '') return undefined;
  return { type: ROUTED, status: 'True', reason: ROUTED_BY_XROUTE, message, observedGeneration };
}

/** Returns the condition that names the users' objects under the names that a source generates; undefined if there is none. */
export function nameTakenCondition(
  found: readonly (Resource | undefined)[],
  observedGeneration: number,
): Condition | undefined {
  const names = found.flatMap((one) =>
    one && !isGeneratedFrom(one.labels) ? [`${one.id.kind} ${one.id.namespace}/${one.id.name}`] : [],
  );
  if (names.length === 0) return undefined;
  const message = `not generated, because the name is taken: ${names.sort().join(', ')}; delete it, or give the source another name`;
  return { type: NAME_TAKEN, status: 'True', reason: 'NameTaken', message, observedGeneration };
}
