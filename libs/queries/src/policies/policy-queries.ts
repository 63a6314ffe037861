import { toAccessTarget, type CallerRights } from '@causeway/access';
import type {
  PathPolicies,
  PolicyImpact as ImpactPage,
  PolicyScopes as ScopePage,
  AffectingPolicies as AffectingPage,
  Topology,
} from '@causeway/api';
import type { NameQuery } from '@causeway/admission';
import type { Meshes } from '@causeway/meshes';
import {
  foldPath,
  computeImpact,
  pathsAt,
  policiesOnNode,
  readPolicy,
  findScopes,
  TopologyReader,
  virtualNode,
  virtualPath,
  type Fold,
  type KindTable,
  type PolicyPath,
  type PolicyTable,
} from '@causeway/policies';
import { compareText, identityKey, NotFound, type Identity, type JsonObject } from '@causeway/resources';
import { inSlices, sortedPage, type PageRange, type SortedPage } from '@causeway/runtime';
import type { ConcurrencyLimit } from '../concurrency-limit';
import { InvalidQuery } from '../errors';
import { requireMesh, type ResourceQueries } from '../list/resource-queries';
import { declaredAnswer } from './declared-targets';
import { AnswerWriter } from './policy-answers';

/** Dependencies of PolicyQueries. */
export interface PolicyQueriesSources {
  readonly meshes: Meshes;
  readonly resources: ResourceQueries;
  readonly readYourWrites: { wait(minRevision?: number): Promise<void> };
  readonly expensive: ConcurrencyLimit;
  /** The policies of this control plane; absent if none are followed. */
  readonly policies?: { readonly table: PolicyTable } | undefined;
}

/** Caller, deadline, and the wanted part of the answer. */
export interface PolicyQuestion {
  readonly rights: CallerRights;
  readonly signal: AbortSignal;
  readonly range: PageRange;
}

/** Responses of the operations, before the address of the next page is added. */
export type AffectingPolicies = Omit<AffectingPage, 'next'>;
export type PolicyScopes = Omit<ScopePage, 'next'>;
export type PolicyImpact = Omit<ImpactPage, 'next'>;

/** Maximum number of nodes of one graph. */
export const MAX_TOPOLOGY_NODES = 2_000;
/** Number of values of effective specs after which a page ends early, with `next`. */
export const MAX_VALUES = 16_384;

/**
 * Queries about policies: the resources that they affect, the scopes where they apply, and the effects of a change (seed GEP-713, the discoverability
 * problem).
 */
export class PolicyQueries {
  constructor(private readonly sources: PolicyQueriesSources) {}

  /**
   * Returns every policy that affects a resource, path by path, with the effective spec and the source of each value. Needs
   * only the right to read the resource: policies are named, never shown (T004-41). Rejects as ResourceQueries.get does.
   */
  async affecting(
    name: NameQuery,
    { kind: only, representation, minRevision }: AffectingOptions,
    { rights, signal, range }: PolicyQuestion,
  ): Promise<AffectingPolicies> {
    const { id } = await this.sources.resources.get(name, rights, minRevision);
    const { meshes } = this.sources;
    const objects = id.kind === 'Namespace' ? meshes.served().map((mesh) => ({ ...id, mesh: mesh.name })) : [id];
    const kinds = this.kindsCalled(only);
    const found = function* (): Generator<OfKind | undefined> {
      for (const kind of kinds) {
        const { attachments } = kind.policies;
        if (attachments.size === 0) continue;
        for (const object of objects) {
          for (const path of pathsAt(kind, object, attachments))
            yield path.policies.length > 0 ? { kind, path } : undefined;
        }
      }
    };
    const page = await this.page(found(), range, signal);
    return { resource: id, ...shownPaths(page, this.writer(rights, representation)) };
  }

  /** As `affecting`, for an object that is not stored: needs the right to read its Namespace (T004-11). */
  async affectingVirtual(
    { mesh, namespace, group, kind, name }: VirtualName,
    { kind: only, representation, minRevision }: AffectingOptions,
    { rights, signal, range }: PolicyQuestion,
  ): Promise<AffectingPolicies> {
    rights.check('get', toAccessTarget({ kind: 'Namespace', mesh: '', zone: '', namespace: '', name: namespace }));
    await this.sources.readYourWrites.wait(minRevision);
    requireMesh(this.sources.meshes, mesh);
    const node = virtualNode(mesh, namespace, group, { kind, name });
    const found = this.kindsCalled(only).map((one) => ({
      kind: one,
      path: virtualPath(node, one.policies.attachments),
    }));
    const page = await this.page(
      found.filter(({ path }) => path.policies.length > 0),
      range,
      signal,
    );
    const resource = { kind, mesh, zone: '', namespace, name };
    return { resource, ...shownPaths(page, this.writer(rights, representation)) };
  }

  /**
   * Returns the scopes of a policy: its targets, and each path below with its values in force there (T004-14, T004-42).
   * Needs the right to read the policy. Rejects as ResourceQueries.get does, and with InvalidQuery for other kinds.
   */
  async scopes(name: NameQuery, minRevision: number | undefined, question: PolicyQuestion): Promise<PolicyScopes> {
    const { rights, signal, range } = question;
    const { id } = await this.sources.resources.get(name, rights, minRevision);
    const kind = this.findKind(id);
    const attached = kind.policies.attachments.get(identityKey(id));
    const writer = this.writer(rights);
    const policy = writer.policy(id);
    if (!attached) return { policy, count: 0, declared: [], total: 0, items: [] };
    const found = function* (): Generator<OfKind | undefined> {
      for (const path of findScopes(kind, attached.policy)) yield path && { kind, path };
    };
    const { total, items } = await this.page(found(), range, signal);
    const shown = cut(items, ({ fold }) => fold.sources.size);
    return {
      policy,
      count: total,
      declared: attached.targets.map((target) => declaredAnswer(target, writer)),
      total,
      items: shown.map(({ path, fold }) => writer.scope(attached.policy, path, fold)),
    };
  }

  /** Returns the effects of deleting a policy. Needs the right to read it; rejects as `scopes` does. */
  async impactOfDeletion(
    name: NameQuery,
    minRevision: number | undefined,
    question: PolicyQuestion,
  ): Promise<PolicyImpact> {
    const { id } = await this.sources.resources.get(name, question.rights, minRevision);
    return this.impact(id, undefined, question);
  }

  /** Returns the effects of writing a policy. The caller has checked the rights and the spec (admission's dry run). */
  async impactOfWrite(id: Identity, spec: JsonObject, question: PolicyQuestion): Promise<PolicyImpact> {
    await this.sources.readYourWrites.wait(undefined);
    return this.impact(id, spec, question);
  }

  /** Returns the graph of targets of a mesh, or the nodes on the paths of one resource. */
  async topology(
    mesh: string,
    root: NameQuery | undefined,
    { rights, signal }: Pick<PolicyQuestion, 'rights' | 'signal'>,
  ): Promise<Topology> {
    rights.check('get', { kind: 'Mesh', mesh });
    await this.sources.readYourWrites.wait(undefined);
    requireMesh(this.sources.meshes, mesh);
    const { table } = this.followed();
    const object = root && (await this.sources.resources.get(root, rights)).id;
    const reader = new TopologyReader(table, MAX_TOPOLOGY_NODES);
    await this.sources.expensive.run((running) => inSlices(reader.read(mesh, object), running), signal);
    const { nodes, edges, truncated } = reader.topology;
    const writer = this.writer(rights);
    const numbers = new Map([...nodes.keys()].map((key, i) => [key, i]));
    return {
      mesh,
      nodes: [...nodes.values()].map((node, id) => ({
        id,
        ...writer.node(node),
        policies: policiesOnNode(table, node).map((policy) => writer.policy(policy.id)),
      })),
      edges: edges.map(({ from, to }) => ({ from: numbers.get(from) ?? 0, to: numbers.get(to) ?? 0 })),
      truncated,
    };
  }

  private async impact(
    id: Identity,
    spec: JsonObject | undefined,
    { rights, signal, range }: PolicyQuestion,
  ): Promise<PolicyImpact> {
    const kind = this.findKind(id);
    const key = identityKey(id);
    const known = kind.policies.attachments.get(key)?.policy;
    // A policy that is created now is the youngest.
    const { creationOrder = 0, generation = 0 } = known ?? {};
    const candidate = spec && readPolicy(kind.definition, { id, creationOrder, generation: generation + 1, spec });
    const writer = this.writer(rights);
    const compare = (a: { readonly path: PolicyPath }, b: { readonly path: PolicyPath }): number =>
      compareText(a.path.key, b.path.key);
    const { total, items } = await this.sources.expensive.run(
      (running) => sortedPage(computeImpact(kind, key, candidate), compare, range, running),
      signal,
    );
    const valuesOf = (fold: Fold | undefined): number => fold?.sources.size ?? 0;
    const shown = cut(items, ({ before, after }) => valuesOf(before) + valuesOf(after));
    return {
      policy: writer.policy(id),
      operation: spec === undefined ? 'delete' : known ? 'update' : 'create',
      total,
      items: shown.map(({ path, before, after }) => writer.impact(path, before, after)),
    };
  }

  private page(
    found: Iterable<OfKind | undefined>,
    range: PageRange,
    signal: AbortSignal,
  ): Promise<SortedPage<Required<OfKind>>> {
    const compare = (a: OfKind, b: OfKind): number =>
      compareText(a.kind.definition.kind, b.kind.definition.kind) || compareText(a.path.key, b.path.key);
    return this.sources.expensive.run(async (running) => {
      const { total, items } = await sortedPage(found, compare, range, running);
      return {
        total,
        items: items.flatMap(({ kind, path }) => {
          const fold = foldPath(kind, path);
          return fold ? [{ kind, path, fold }] : [];
        }),
      };
    }, signal);
  }

  /** Returns all kinds of policies, or the one with this name. Throws InvalidQuery for an unknown name. */
  private kindsCalled(only: string | undefined): readonly KindTable[] {
    const { table } = this.followed();
    if (only === undefined) return [...table.all()];
    const kind = table.kind(only);
    if (kind) return [kind];
    throw new InvalidQuery(`There is no kind of policy "${only.slice(0, 80)}"; MetaresourceDefinitions declare them.`);
  }

  private findKind({ kind: name }: Identity): KindTable {
    const kind = this.followed().table.kind(name);
    if (kind) return kind;
    throw new InvalidQuery(
      `${name} is no kind of policy: it has neither scopes nor impact; _policies says what affects it.`,
    );
  }

  private writer(rights: CallerRights, representation = false): AnswerWriter {
    const { table } = this.followed();
    return new AnswerWriter(rights, (kind) => table.kind(kind)?.definition.group ?? '', representation);
  }

  private followed(): { readonly table: PolicyTable } {
    const { policies } = this.sources;
    if (policies) return policies;
    throw new NotFound('this control plane follows no policies');
  }
}

/** Options of a query for the policies that affect something. */
export interface AffectingOptions {
  /** Only policies of this kind. */
  readonly kind: string | undefined;
  /** Whether the effective spec is also returned as text. */
  readonly representation: boolean;
  readonly minRevision: number | undefined;
}

/** Name of a virtual object. */
export interface VirtualName {
  readonly mesh: string;
  readonly namespace: string;
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

interface OfKind {
  readonly kind: KindTable;
  readonly path: PolicyPath;
  readonly fold?: Fold;
}

function shownPaths({ total, items }: SortedPage<Required<OfKind>>, writer: AnswerWriter): SortedPage<PathPolicies> {
  const shown = cut(items, ({ fold }) => fold.sources.size);
  return { total, items: shown.map(({ kind, path, fold }) => writer.pathPolicies(kind.definition.kind, path, fold)) };
}

/** Returns the first items whose values together stay within the limit; at least one. */
function cut<T>(items: readonly T[], valuesOf: (item: T) => number): readonly T[] {
  let values = 0;
  const end = items.findIndex((item, i) => (values += valuesOf(item)) > MAX_VALUES && i > 0);
  return end < 0 ? items : items.slice(0, end);
}
