import type { Context } from '../table/contexts';
import { lowerPolicies } from '../table/kind-policies';
import type { ScopeGroup } from '../table/kind-scopes';
import type { KindTable } from '../table/kind-table';
import type { Node } from '../table/nodes';
import type { LowerPath } from '../table/hierarchy-paths';

/** Returns names of some scopes of some groups, at most `most` in all. Linear in the contexts with policies of their own, until enough are found. */
export function namesOfGroups(
  kind: KindTable,
  groups: ReadonlySet<ScopeGroup>,
  most: number,
): ReadonlyMap<ScopeGroup, readonly string[]> {
  const found = new Map<ScopeGroup, string[]>();
  if (groups.size === 0) return found;
  let room = Math.min(
    most,
    [...groups].reduce((sum, { paths }) => sum + paths, 0),
  );
  for (const { context, in: own } of kind.scopes.listContexts(groups)) {
    for (const path of listPaths(kind, context)) {
      const lower = lowerPolicies(kind.policies.attachments, context, path)
        .map(({ key }) => key)
        .join('\n');
      const group = own.find((one) => one.lower.join('\n') === lower);
      if (!group || room <= 0) continue;
      room -= 1;
      found.set(group, [...(found.get(group) ?? []), pathName(context, path)]);
    }
    if (room <= 0) break;
  }
  return found;
}

function listPaths({ policies, contexts }: KindTable, context: Context): readonly LowerPath[] {
  const isBorrowed =
    context.consumer !== undefined && policies.listConsumers(context.frontend).includes(context.consumer);
  const isThere = isBorrowed || contexts.at(context.frontend.key, context.group) !== undefined;
  return isThere ? policies.hierarchyPaths.listPaths(context, policies.targetIndex.routes, isBorrowed) : [];
}

/** Formats a path by the names of its objects, `g1>r1>b1`; a section follows its object, a consumer's namespace is in brackets. */
function pathName({ consumer }: Pick<Context, 'consumer'>, path: readonly Node[]): string {
  const parts: { name: string; id: Node['id'] }[] = [];
  for (const { id, section } of path) {
    if (!id) continue;
    const name = section === undefined ? id.name : `${id.name}:${section}`;
    const last = parts.at(-1);
    if (last && section !== undefined && last.id?.name === id.name && last.id.kind === id.kind) last.name = name;
    else parts.push({ name, id });
  }
  const text = parts.map(({ name }) => name).join('>');
  return consumer === undefined ? text : `${text} (for ${consumer})`;
}
