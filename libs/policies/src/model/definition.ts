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

/** A kind of object that a policy may name; `facet` tells what of a service it means. */
export interface DeclaredTarget {
  readonly kind: string;
  readonly group?: string;
  readonly facet?: Facet;
  /** Meaning of the policy there, in words (T004-12). */
  readonly semantics: string;
}

/** The spec of a MetaresourceDefinition, as far as the engine reads it. It breaks no rule of `definitionViolations`. */
export interface DefinitionSpec {
  readonly group: string;
  readonly kind: string;
  /** Least specific first, or `mesh` or `gateway`: all levels of that side. */
  readonly hierarchy: readonly Level[] | keyof typeof hierarchies;
  readonly declaredTargets: readonly DeclaredTarget[];
  readonly effectiveTarget: { readonly level: Level; readonly semantics: string };
  readonly mergeStrategies?: readonly Strategy[];
  /** `Forbidden` where absent. */
  readonly crossNamespace?: CrossNamespace;
  /** Kinds of which no object is stored: a target exists where a policy names it (T004-11). */
  readonly virtualTargets?: readonly { readonly group: string; readonly kind: string; readonly semantics: string }[];
}

/** A kind of object that policies of a kind name: where it stands, and where its sections do. */
export interface Declared {
  readonly kind: string;
  readonly groups: readonly string[];
  readonly level: Level;
  /** Undefined if policies of the kind cannot name sections of it. */
  readonly section: Level | undefined;
}

/** A kind of policy, ready to be used. */
export interface PolicyDefinition {
  readonly group: string;
  /** The name of the kind as identities have it: a second kind of one name has its group behind it. */
  readonly kind: string;
  /** The name without the group. */
  readonly bareKind: string;
  /** The levels of its paths, the least specific first; the last one is where policies take effect. */
  readonly levels: readonly Level[];
  readonly effective: Level;
  /** By kind, `Service` as MeshService. */
  readonly declared: ReadonlyMap<string, Declared>;
  readonly virtual: readonly { readonly group: string; readonly kind: string }[];
  /** At least one; what an instance may declare. */
  readonly strategies: readonly Strategy[];
  /** Direct where one kind is named, takes effect itself and nothing is merged (T004-34); else Inherited. */
  readonly class: 'Direct' | 'Inherited';
  readonly crossNamespace: CrossNamespace;
}

/** The levels that a spec's `hierarchy` stands for. */
export const resolveHierarchy = ({ hierarchy }: Pick<DefinitionSpec, 'hierarchy'>): readonly Level[] =>
  hierarchy === 'mesh' || hierarchy === 'gateway' ? hierarchies[hierarchy] : hierarchy;

/** The facet of services that a definition means: what it says, else the frontend where its hierarchy has that, else the backend. */
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
    class: strategies.every((one) => one === 'None') && isAlone(declared, effective) ? 'Direct' : 'Inherited',
    crossNamespace: spec.crossNamespace ?? 'Forbidden',
  };
}

const routeKindNames = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'] as const;

/** True where one kind can be named, and it takes effect there. */
function isAlone(declared: ReadonlyMap<string, Declared>, effective: Level): boolean {
  const [only, ...others] = declared.values();
  return others.length === 0 && only?.level === effective;
}

/** Default strategy if a definition names none (T004-29, T004-30). */
const presetStrategy = (declared: ReadonlyMap<string, Declared>, effective: Level): Strategy =>
  isAlone(declared, effective) ? 'None' : 'AtomicDefaults';
