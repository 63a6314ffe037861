import type { RouteSpec } from '@causeway/routing';
import type { FieldPath, Violation } from '@causeway/resources';

/** Maximum number of matches in all rules of one route. */
const MAX_MATCHES = 128;

/**
 * Returns the violations that schemas cannot express for routes of any kind: ambiguous parents and ambiguous rule
 * names.
 */
export function routeViolations(spec: RouteSpec, at: FieldPath): Violation[] {
  const matches = (spec.rules ?? []).reduce((sum, rule) => sum + (rule.matches?.length ?? 0), 0);
  return [
    ...checkDistinctParents(spec, at.field('parentRefs')),
    ...checkDistinctRuleNames(spec, at.field('rules')),
    ...(matches > MAX_MATCHES
      ? [at.field('rules').violation(`must have at most ${MAX_MATCHES} matches in all; have ${matches}`, 'too-many')]
      : []),
  ];
}

/** Refuses two parentRefs of the same object unless both have a sectionName or port and these differ (T002-47). */
function checkDistinctParents({ parentRefs = [] }: RouteSpec, at: FieldPath): Violation[] {
  const objects = new Map<string, number>();
  const places = new Map<string, number>();
  return parentRefs.flatMap((ref, i) => {
    const object = JSON.stringify([ref.group ?? '', ref.kind ?? '', ref.namespace ?? '', ref.name]);
    const place = JSON.stringify([object, ref.sectionName ?? '', ref.port ?? 0]);
    const [sameObject, samePlace] = [objects.get(object), places.get(place)];
    const whole = ref.sectionName === undefined && ref.port === undefined;
    objects.set(object, sameObject ?? i);
    places.set(place, samePlace ?? i);
    const before = sameObject === undefined ? undefined : parentRefs[sameObject];
    const wholeBefore = before !== undefined && before.sectionName === undefined && before.port === undefined;
    if (samePlace === undefined && !(before && (whole || wholeBefore))) return [];
    const reason = `names the object of index ${sameObject ?? 0} again: both need a sectionName or port, and distinct ones`;
    return [at.index(i).violation(reason, 'not-unique')];
  });
}

function checkDistinctRuleNames({ rules = [] }: RouteSpec, at: FieldPath): Violation[] {
  const seen = new Map<string, number>();
  return rules.flatMap(({ name }, i) => {
    if (name === undefined) return [];
    const before = seen.get(name);
    if (before !== undefined) {
      const reason = `must be unique; "${name}" is already at index ${before}`;
      return [at.index(i).field('name').violation(reason, 'not-unique')];
    }
    seen.set(name, i);
    return [];
  });
}

/** Warns of `hostnames`, which have no effect for routes that are bound to services (T002-33). */
export function hostnameWarnings({ hostnames = [], parentRefs = [] }: RouteSpec): string[] {
  const bindsToService = parentRefs.some(({ kind }) => kind !== undefined && kind !== 'Gateway');
  return hostnames.length > 0 && bindsToService
    ? ['spec.hostnames: mean nothing where the parent is a service; match the header Host instead']
    : [];
}
