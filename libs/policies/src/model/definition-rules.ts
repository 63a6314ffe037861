import { bareGroup, FieldPath, type Violation } from '@causeway/resources';
import {
  crossNamespaceRules,
  hierarchies,
  isServiceKind,
  knownKind,
  levelRank,
  levels,
  strategies,
  resolveTargetKind,
  targetKinds,
  type Level,
} from './levels';
import {
  resolveFacet,
  resolveHierarchy,
  policyDefinition,
  type DeclaredTarget,
  type DefinitionSpec,
  type PolicyDefinition,
} from './definition';

/** A definition as users write it: validated by the schema of its kind only. */
export type WrittenDefinition = Omit<DefinitionSpec, 'hierarchy' | 'effectiveTarget' | 'mergeStrategies'> & {
  readonly hierarchy: string | readonly string[];
  readonly effectiveTarget: { readonly level: string; readonly semantics: string };
  readonly mergeStrategies?: readonly string[];
  /** Computed: a written value must equal the computed one (T004-34). */
  readonly class?: string;
};

/**
 * Returns the violations of a definition besides the schema of its kind (T004-12, -15, -20, -28, -34). Fields from
 * `at`, the spec. Linear in the spec.
 */
export function definitionViolations(spec: WrittenDefinition, at: FieldPath): Violation[] {
  const found = [...hierarchyViolations(spec, at), ...strategyViolations(spec, at)];
  if (found.length > 0 || !isReadable(spec)) return found;
  found.push(...targetViolations(spec, at));
  if (found.length > 0 || spec.class === undefined) return found;
  const computed = policyDefinition(spec).class;
  if (spec.class === computed) return found;
  const reason = `must be ${computed}, which follows from declaredTargets, effectiveTarget and mergeStrategies; got "${spec.class}"`;
  return [at.field('class').violation(reason, 'not-allowed')];
}

/** Returns the kind that a definition defines, by its name in identities; undefined if it breaks a rule. */
export function readDefinition(spec: WrittenDefinition, name?: string): PolicyDefinition | undefined {
  const isValid = definitionViolations(spec, FieldPath.at('spec')).length === 0;
  return isValid && isReadable(spec) ? policyDefinition(spec, name) : undefined;
}

/** Returns whether all levels and strategies are known. */
function isReadable(spec: WrittenDefinition): spec is WrittenDefinition & DefinitionSpec {
  const { hierarchy, effectiveTarget, mergeStrategies = [] } = spec;
  const written = typeof hierarchy === 'string' ? [] : hierarchy;
  const isNamed = typeof hierarchy !== 'string' || Object.hasOwn(hierarchies, hierarchy);
  return isNamed && [...written, effectiveTarget.level].every(isLevel) && mergeStrategies.every(isStrategy);
}

const isLevel = (text: string): text is Level => levels.some((level) => level === text);
const isStrategy = (text: string): boolean => strategies.some((strategy) => strategy === text);
const levelList = levels.join(', ');

function hierarchyViolations({ hierarchy, effectiveTarget }: WrittenDefinition, at: FieldPath): Violation[] {
  const place = at.field('hierarchy');
  if (typeof hierarchy === 'string') {
    if (hierarchy !== 'mesh' && hierarchy !== 'gateway') {
      return [place.violation(`must be "mesh", "gateway" or a list of levels; got "${hierarchy}"`, 'not-one-of')];
    }
  } else if (hierarchy.length === 0) return [place.violation('must have at least one level', 'too-few')];
  const list: readonly string[] = typeof hierarchy === 'string' ? hierarchies[hierarchy] : hierarchy;
  const found = list.flatMap((level, i): Violation[] => {
    if (!isLevel(level)) return [place.index(i).violation(`must be one of ${levelList}; got "${level}"`, 'not-one-of')];
    if (list.indexOf(level) < i)
      return [place.index(i).violation(`has ${level} twice: levels form no loop`, 'not-unique')];
    const before = list[i - 1];
    if (before === undefined || !isLevel(before) || levelRank(before) < levelRank(level)) return [];
    return [
      place.index(i).violation(`${level} is less specific than ${before}; the order is ${levelList}`, 'not-allowed'),
    ];
  });
  if (found.length > 0) return found;
  const effective = at.field('effectiveTarget').field('level');
  if (!list.includes(effectiveTarget.level)) {
    return [
      effective.violation(
        `must be a level of the hierarchy (${list.join(', ')}); got "${effectiveTarget.level}"`,
        'not-one-of',
      ),
    ];
  }
  const has = (...some: readonly Level[]): boolean => some.some((level) => list.includes(level));
  if (has('Route', 'Rule') && !has('Service', 'ServicePort', 'Gateway', 'Listener')) {
    return [place.violation('must have Service or Gateway above Route: else no path leads to a route', 'not-allowed')];
  }
  return [...wordsViolations(effectiveTarget, at.field('effectiveTarget'))];
}

const wordsViolations = ({ semantics }: { readonly semantics: string }, at: FieldPath): Violation[] =>
  semantics.trim() === ''
    ? [at.field('semantics').violation('must say in words what policies mean there', 'required')]
    : [];

function strategyViolations({ mergeStrategies = [] }: WrittenDefinition, at: FieldPath): Violation[] {
  const place = at.field('mergeStrategies');
  const found = mergeStrategies.flatMap((one, i): Violation[] => {
    if (!isStrategy(one))
      return [place.index(i).violation(`must be one of ${strategies.join(', ')}; got "${one}"`, 'not-one-of')];
    return mergeStrategies.indexOf(one) < i ? [place.index(i).violation(`has ${one} twice`, 'not-unique')] : [];
  });
  if (found.length > 0 || mergeStrategies.length < 2) return found;
  if (mergeStrategies.includes('None')) return [place.violation('must not have None beside others', 'not-allowed')];
  if (mergeStrategies.includes('AtomicDefaults')) return [];
  return [
    place.violation(
      'must have AtomicDefaults where there are several: it applies to policies that name none',
      'required',
    ),
  ];
}

function targetViolations(spec: WrittenDefinition & DefinitionSpec, at: FieldPath): Violation[] {
  const hierarchy = resolveHierarchy(spec);
  const list = at.field('declaredTargets');
  const virtual = spec.virtualTargets ?? [];
  if (spec.declaredTargets.length + virtual.length === 0) {
    return [list.violation('must name at least one kind that policies target', 'too-few')];
  }
  const facets = new Set<string>();
  const names = new Set<string>();
  const found = spec.declaredTargets.flatMap((target, i): Violation[] => {
    const place = list.index(i);
    const name = resolveTargetKind(target.kind);
    if (names.has(name)) return [place.field('kind').violation(`is declared twice: ${target.kind}`, 'not-unique')];
    names.add(name);
    if (isServiceKind(name)) facets.add(resolveFacet(target, hierarchy));
    return declaredViolations(target, spec, place);
  });
  if (facets.size > 1) {
    found.push(list.violation('must mean services as frontends or as backends, not both', 'not-allowed'));
  }
  virtual.forEach((target, i) => {
    const place = at.field('virtualTargets').index(i);
    if (knownKind(target.kind))
      found.push(place.field('kind').violation(`is stored, so it is not virtual: ${target.kind}`, 'not-allowed'));
    found.push(...wordsViolations(target, place));
  });
  if (!spec.crossNamespace || crossNamespaceRules.includes(spec.crossNamespace)) return found;
  const place = at.field('crossNamespace');
  return [...found, place.violation(`must be one of ${crossNamespaceRules.join(', ')}`, 'not-one-of')];
}

function declaredViolations(target: DeclaredTarget, spec: DefinitionSpec, at: FieldPath): Violation[] {
  const hierarchy = resolveHierarchy(spec);
  const { kind, group, facet } = target;
  const known = knownKind(kind, isServiceKind(kind) ? resolveFacet(target, hierarchy) : undefined);
  if (!known)
    return [at.field('kind').violation(`must be one of ${targetKinds.join(', ')}; got "${kind}"`, 'not-one-of')];
  const found = wordsViolations(target, at);
  if (facet !== undefined && !isServiceKind(kind) && !(known.level === 'Backend' && facet === 'backend'))
    found.push(at.field('facet').violation(`${kind} has no facets`, 'not-allowed'));
  if (group !== undefined && !known.groups.includes(bareGroup(group))) {
    const groups = known.groups.map((one) => `"${one}"`).join(', ');
    found.push(at.field('group').violation(`must be one of ${groups} for ${kind}; got "${group}"`, 'not-one-of'));
  }
  if (!hierarchy.includes(known.level)) {
    found.push(
      at.field('kind').violation(`${kind} stands at ${known.level}, which the hierarchy lacks`, 'not-allowed'),
    );
  } else if (levelRank(known.level) > levelRank(spec.effectiveTarget.level)) {
    const reason = `${kind} stands at ${known.level}, below ${spec.effectiveTarget.level}, where policies take effect`;
    found.push(at.field('kind').violation(reason, 'not-allowed'));
  }
  return found;
}
