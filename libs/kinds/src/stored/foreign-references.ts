import { FieldPath, isJsonArray, isJsonObject, ownField, type JsonValue } from '@causeway/resources';
import { findReferenceProblem } from '@causeway/routing';

/** Maximum depth of a reference in a route: `rules[].filters[].requestMirror.backendRef`. */
const MAX_DEPTH = 8;

/**
 * Returns the references of a route, or of a ReferenceGrant, whose group and kind are unknown, each as `FIELD:
 * problem`. Stored content is not trusted: other forms are skipped. Linear in the spec.
 */
export function foreignReferences(spec: unknown): readonly string[] {
  const found: string[] = [];
  const checkReference = (value: JsonValue | undefined, role: 'parent' | 'backend', at: FieldPath): void => {
    if (!isJsonObject(value)) return;
    const [group, kind] = [ownField(value, 'group'), ownField(value, 'kind')];
    if ((group !== undefined && typeof group !== 'string') || (kind !== undefined && typeof kind !== 'string')) return;
    const fault = findReferenceProblem(
      { ...(group !== undefined && { group }), ...(kind !== undefined && { kind }) },
      role,
    );
    if (fault !== undefined) found.push(`${at.toString()}: ${fault}`);
  };
  const walk = (value: unknown, at: FieldPath, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) return value.forEach((item, i) => walk(item, at.index(i), depth + 1));
    if (!isJsonObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      const place = at.field(key);
      const role = ROLES[key];
      if (role === undefined || inner === undefined) walk(inner, place, depth + 1);
      else if (isJsonArray(inner)) {
        inner.forEach((ref, i) => {
          checkReference(ref, role, place.index(i));
          if (isJsonObject(ref)) walk(ownField(ref, 'filters'), place.index(i).field('filters'), depth + 2);
        });
      } else checkReference(inner, role, place);
    }
  };
  walk(spec, FieldPath.at('spec'), 0);
  return found;
}

/** Fields that hold references, with the role of the target. */
const ROLES: Readonly<Record<string, 'parent' | 'backend' | undefined>> = {
  parentRefs: 'parent',
  backendRefs: 'backend',
  backendRef: 'backend',
  to: 'backend',
};
