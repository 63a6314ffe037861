import { formerId, namespacedIds, type AccessRule, type AccessSpec, type ChangingIds } from '@causeway/policies';
import type { JsonObject, JsonValue } from '@causeway/resources';
import type { TranslatedConf } from './mesh-retry';

/** Maximum number of ids in one resource. */
const MAX_IDS = 1_024;

/**
 * Returns `default` of the rule of a MeshTrafficPermission of Kuma 2.14 that allows the same callers (docs/reference/kuma-interop.md, Policies in
 * zones of Kuma). Kuma denies by default, so if no caller is allowed there is no rule. While the form of ids changes, the rule contains both ids of a
 * caller; for an id with a namespace, the id without it is in `deny` only, because other callers may have it too. Linear in the ids.
 */
export function permissionConf(
  spec: AccessSpec,
  defaultAccess: 'Allow' | 'Deny',
  changing: readonly ChangingIds[],
): TranslatedConf {
  if (!spec.allow && !spec.deny) return { ok: true };
  const allow = toSpiffeIds('allow', spec.allow, (id) => namespacedIds(id, changing));
  const deny = toSpiffeIds('deny', spec.deny, (id) => [
    ...namespacedIds(id, changing),
    ...[formerId(id, changing)?.uri].filter((uri) => uri !== undefined),
  ]);
  if (!allow.ok) return allow;
  if (!deny.ok) return deny;
  if (!spec.allow && defaultAccess === 'Allow') {
    return refused('defaultAccess of MeshParameters allows all other callers, and Kuma refuses them');
  }
  if (allow.ids.length === 0) return { ok: true };
  if (allow.ids.length + deny.ids.length > MAX_IDS) return refused(`it names more than ${MAX_IDS} ids`);
  return {
    ok: true,
    conf: { ...(deny.ids.length > 0 && { deny: matches(deny.ids) }), allow: matches(allow.ids) },
  };
}

type SpiffeIds =
  { readonly ok: true; readonly ids: readonly string[] } | { readonly ok: false; readonly reason: string };

/** Returns the ids in rules and the other ids of the same callers, without duplicates, sorted. */
function toSpiffeIds(
  field: string,
  rules: Readonly<Record<string, AccessRule>> | undefined,
  listOthers: (id: string) => readonly string[],
): SpiffeIds {
  const ids = new Set<string>();
  for (const name of Object.keys(rules ?? {}).sort()) {
    const { from, to } = rules?.[name] ?? {};
    const where = `${field}.${name}`;
    if (to) return refused(`${where} names methods or paths`);
    if (!from) return refused(`${where} applies to all callers, and Kuma has no name for all`);
    for (const { spiffeId, ...others } of from) {
      const [other] = Object.keys(others);
      if (other !== undefined) return refused(`${where} names a ${other}: Kuma knows callers by their SPIFFE ids`);
      if (!spiffeId) continue;
      // Kuma accepts no slash at the end of a prefix, so the prefix would also match longer names.
      if (spiffeId.type !== 'Exact') return refused(`${where} names a prefix, which Kuma does not end at a slash`);
      if (spiffeId.value.endsWith('/')) return refused(`${where} names ${spiffeId.value}, which is no SPIFFE id`);
      for (const id of [spiffeId.value, ...listOthers(spiffeId.value)]) ids.add(id);
    }
  }
  return { ok: true, ids: [...ids].sort() };
}

const matches = (ids: readonly string[]): readonly JsonValue[] =>
  ids.map((value): JsonObject => ({ spiffeID: { type: 'Exact', value } }));

const refused = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });
