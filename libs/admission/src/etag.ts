import { Conflict } from '@causeway/resources';

/** If-Match named a state that is not the stored one. Adapters tell it apart from other conflicts (412, not 409). */
export class PreconditionFailed extends Conflict {}

/** What names one state of a resource: its life and the generation in it (design.md §1 Two versions). */
export function etagOf(resource: { readonly uid: string; readonly generation: number }): string {
  return `"${resource.uid}.${resource.generation}"`;
}

/**
 * Throws PreconditionFailed unless `ifMatch` (a list of ETags or `*`) names the stored state; weak ones never match
 * (RFC 9110 §13.1.1). Absent means no condition.
 */
export function checkPrecondition(
  ifMatch: string | undefined,
  stored: { readonly uid: string; readonly generation: number } | undefined,
): void {
  if (ifMatch === undefined) return;
  if (!stored) throw new PreconditionFailed(`If-Match ${ifMatch}: there is no such resource`);
  const wanted = ifMatch.split(',').map((tag) => tag.trim());
  if (wanted.includes('*') || wanted.includes(etagOf(stored))) return;
  throw new PreconditionFailed(`If-Match ${ifMatch}: the resource is now at ${etagOf(stored)}; read it again`);
}
