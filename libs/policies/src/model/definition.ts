import { bareGroup } from '@causeway/resources';
import {
  hierarchies,
  isServiceKind,
  knownKind,
  levelRank,
  resolveTargetKind,
  type CrossNamespace,
  type Facet,
  type Level,
  type Strategy,
} from './levels';

/** A kind of object that a policy may target; `facet` selects a service's frontend or backend role. */
export interface DeclaredTarget {
  readonly kind: string;
  readonly group?: string;
  readonly facet?: Facet;
  /** Description of the effect of the policy there (T004-12). */
  readonly semantics: string;
}

/** The fields of a MetaresourceDefinition's spec that the engine reads. Passes `definitionViolations`. */
export interface DefinitionSpec {
  readonly group: string;
  readonly kind: string;
  /** Least specific first, or `mesh` or `gateway`: all levels of that side. */
  readonly hierarchy: readonly Level[] | keyof typeof hierarchies;
  readonly declaredTargets: readonly DeclaredTarget[];
  readonly effectiveTarget: { readonly level: Level; readonly semantics: string };
  readonly mergeStrategies?: readonly Strategy[];
  /** Defaults to `Forbidden`. */
  readonly crossNamespace?: CrossNamespace;
  /** Kinds without stored objects: a target exists if a policy names it (T004-11). */
  readonly virtualTargets?: readonly { readonly group: string; readonly kind: string; readonly semantics: string }[];
}

/** A kind of object that policies of a kind may target: its level, and the level of its sections. */
export interface Declared {
  readonly kind: string;
  readonly groups: readonly string[];
  readonly level: Level;
  /** Undefined if policies of the kind cannot name sections of it. */
  readonly section: Level | undefined;
}

/** A compiled kind of policy. */
export interface PolicyDefinition {
  readonly group: string;
  /** The kind's name in identities: a second kind of the same name has its group appended. */
  readonly kind: string;
  /** The name without the group. */
  readonly bareKind: string;
  /** The levels of its paths, the least specific first; policies take effect at the last one. */
  readonly levels: readonly Level[];
  readonly effective: Level;
  /** By kind, with `Service` as MeshService. */
  readonly declared: ReadonlyMap<string, Declared>;
  readonly virtual: readonly { readonly group: string; readonly kind: string }[];
  /** The strategies that an instance may declare; at least one. */
  readonly strategies: readonly Strategy[];
  /** Direct if only one kind can be targeted, takes effect itself, and nothing is merged (T004-34); else Inherited. */
  readonly class: 'Direct' | 'Inherited';
  readonly crossNamespace: CrossNamespace;
}

/** Returns the levels of a spec's `hierarchy`. */
export const resolveHierarchy = ({ hierarchy }: Pick<DefinitionSpec, 'hierarchy'>): readonly Level[] =>
  hierarchy === 'mesh' || hierarchy === 'gateway' ? hierarchies[hierarchy] : hierarchy;

/** Returns the facet of services that a definition targets: the declared one, else the frontend if its hierarchy has that level, else the backend. */
export function resolveFacet({ facet }: DeclaredTarget, hierarchy: readonly Level[]): Facet {
  return facet ?? (hierarchy.includes('Service') ? 'frontend' : 'backend');
}

/** Compiles the spec of a definition; `name` is the kind's in identities. Linear in the spec. */
export function policyDefinition(spec: DefinitionSpec, name = spec.kind): PolicyDefinition {
  const hierarchy = resolveHierarchy(spec);
  const effective = spec.effectiveTarget.level;
  const levels = hierarchy.filter((level) => levelRank(level) <= levelRank(effective));
  const declared = new Map<string, Declared>();
  for (const target of spec.declaredTargets) {
    for (const kind of target.kind === 'Route' ? routeKindNames : [resolveTargetKind(target.kind)]) {
      const known = knownKind(kind, isServiceKind(kind) ? resolveFacet(target, hierarchy) : undefined);
      if (!known) continue;
      const section = known.section && levels.includes(known.section) ? known.section : undefined;
      declared.set(kind, { kind, groups: known.groups, level: known.level, section });
    }
  }
  const strategies = spec.mergeStrategies?.length ? spec.mergeStrategies : [presetStrategy(declared, effective)];
  return {
    group: spec.group,
    kind: name,
    bareKind: spec.kind,
    levels,
    effective,
    declared,
    virtual: (spec.virtualTargets ?? []).map(({ group, kind }) => ({ group: bareGroup(group), kind })),
    strategies,
    class: strategies.every((one) => one === 'None') && isOnlyTarget(declared, effective) ? 'Direct' : 'Inherited',
    crossNamespace: spec.crossNamespace ?? 'Forbidden',
  };
}

const routeKindNames = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'] as const;

/** Returns whether only one kind can be targeted, and policies take effect there. */
function isOnlyTarget(declared: ReadonlyMap<string, Declared>, effective: Level): boolean {
  const [only, ...others] = declared.values();
  return others.length === 0 && only?.level === effective;
}

/** Default strategy if a definition names none (T004-29, T004-30). */
const presetStrategy = (declared: ReadonlyMap<string, Declared>, effective: Level): Strategy =>
  isOnlyTarget(declared, effective) ? 'None' : 'AtomicDefaults';
