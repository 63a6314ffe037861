import { MEMBERSHIP_CONFLICT } from '@causeway/appmesh';
import { withCondition, withoutConditions, type Condition, type Resource } from '@causeway/resources';
import { parentStatuses, ROUTED_BY_XROUTE, type RouteTable } from '@causeway/routing';
import type { PatchChange } from '@causeway/store';

/** True on a VirtualService at whose ports routes that somebody wrote are bound in place of what its provider says. */
const ROUTED = `causeway.io/${ROUTED_BY_XROUTE}`;

/** Those that are absent while they are not true. */
const OPTIONAL = [MEMBERSHIP_CONFLICT, ROUTED];

/** The patch that brings the conditions of a source up to date; undefined where they are. */
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

/** What the generated routes of a VirtualService say of routes that replace them; undefined where none does. */
export function routedCondition(
  routes: Iterable<string>,
  table: RouteTable,
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
