import type { JsonObject, Resource } from '@causeway/resources';
import type { ParentStatus } from '@causeway/routing';
import type { PatchChange } from '@causeway/store';
import { conditionsOfEntry, withEntries, type EntryList, type StatusWriter } from '../conditions/controller-entries';

/** At most 32 entries of all controllers together (Gateway API, RouteStatus). */
const PARENTS: EntryList = { field: 'parents', refField: 'parentRef', most: 32 };

/**
 * Returns the patch that updates the entries of one controller in `status.parents` of a route (T002-04, T002-48); undefined if they are up to date.
 */
export function planRouteStatus(
  { id, revision, status: before = {} }: Resource,
  wanted: readonly ParentStatus[],
  writer: StatusWriter,
): PatchChange | undefined {
  const entries = wanted.map(({ parentRef, conditions }) => ({ ref: { ...parentRef }, conditions }));
  const status = withEntries(before, PARENTS, entries, writer);
  return status === before ? undefined : { type: 'patch', id, expect: revision, status };
}

/** Returns the conditions that a controller wrote for a parentRef, in the form of `parentStatuses`; empty if it wrote none. */
export function storedConditions(
  { status = {} }: Pick<Resource, 'status'>,
  parentRef: ParentStatus['parentRef'],
  controllerName: string,
): readonly JsonObject[] {
  return conditionsOfEntry(status, PARENTS, { ...parentRef }, controllerName);
}
