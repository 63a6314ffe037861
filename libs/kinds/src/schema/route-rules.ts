import type { RouteSpec } from '@causeway/routing';
import type { FieldPath, Violation } from '@causeway/resources';

/** Maximum number of matches of one route, over all its rules. */
const MAX_MATCHES = 128;

/**
 * Returns violations that all kinds of routes can have besides their schemas: ambiguous parents, and ambiguous names of
 * rules.
 */
export function routeViolations(spec: RouteSpec, at: FieldPath): Violation[] {
  const matches = (spec.rules ?? []).reduce((sum, rule) => sum + (rule.matches?.length ?? 0), 0);
  return [
    ...distinctParents(spec, at.field('parentRefs')),
    ...distinctRuleNames(spec, at.field('rules')),
    ...(matches > MAX_MATCHES
      ? [at.field('rules').violation(`must have at most ${MAX_MATCHES} matches in all; have ${matches}`, 'too-many')]
      : []),
  ];
}

/** Two parentRefs of one object need a sectionName or port each, and not the same (T002-47). */
function distinctParents({ parentRefs = [] }: RouteSpec, at: FieldPath): Violation[] {
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

function distinctRuleNames({ rules = [] }: RouteSpec, at: FieldPath): Violation[] {
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

/** Warns of `hostnames`, which mean nothing for routes that are bound to services (T002-33). */
export function hostnameWarnings({ hostnames = [], parentRefs = [] }: RouteSpec): string[] {
  const bindsToService = parentRefs.some(({ kind }) => kind !== undefined && kind !== 'Gateway');
  return hostnames.length > 0 && bindsToService
    ? ['spec.hostnames: mean nothing where the parent is a service; match the header Host instead']
    : [];
}
