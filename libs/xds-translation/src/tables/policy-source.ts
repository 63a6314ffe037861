import type { FrontendGroup } from '@causeway/routing';
import { MeshExternalService, MeshService } from '@causeway/kinds';
import { AccessPolicy } from '@causeway/policies';
import { identityKey, type Identity, type ResourceKey } from '@causeway/resources';
import type { Follower, IndexReader } from '@causeway/store';
import type { EffectiveAccess } from '../access/inbound-rules';
import type { Reads } from '../reads/recorded-reads';
import { callersKinds, serversKinds, type EffectiveBackends } from '../policies/backend-policies';
import type { EffectiveRules } from '../policies/effective-rules';

/** The effective policies in the process's policy table. */
export interface EffectivePolicies extends EffectiveRules, EffectiveBackends, Pick<EffectiveAccess, 'isCurrent'> {}

/** The frontends and services, by key, that a change of policies, routes or services may affect. */
export interface PolicyChange {
  readonly rules: readonly { readonly kind: string; readonly frontend: ResourceKey; readonly group: FrontendGroup }[];
  readonly backends: readonly { readonly kind: string; readonly service: ResourceKey }[];
  /** Kinds of policy with a mesh: all rules and backends of the mesh may be affected. */
  readonly meshes: readonly { readonly kind: string; readonly mesh: string }[];
}

/** The process's effective policies, and a subscription to their changes. */
export interface PolicySource {
  /** Replaced by a reload. */
  readonly table: EffectivePolicies;
  /** False while the table is behind the index. */
  readonly isCurrent?: boolean;
  /** Resolves when policies have been loaded once: before that no resource that policies may change is sent. */
  whenLoaded(): Promise<void>;
  /** Calls the follower after each change until the returned function is called. */
  subscribe(follower: Follower<PolicyChange>): () => void;
}

/** A source without policies. */
export const NO_POLICIES: PolicySource = {
  table: { effectiveOfRule: () => undefined, effectiveOfBackend: () => undefined, listConsumers: () => [] },
  whenLoaded: () => Promise.resolve(),
  subscribe: () => () => undefined,
};

/** Returns the policies of a source's current table; reads are recorded. */
export function effectiveIn(source: Pick<PolicySource, 'table' | 'isCurrent'>, reads: Reads): EffectivePolicies {
  const read = (of: PolicyUse, { mesh, ...id }: Identity): void => {
    reads.read(`${of} ${identityKey({ mesh, ...id })}`);
    reads.read(`${of} of ${mesh}`);
  };
  return {
    effectiveOfRule: (kind, at) => {
      read('rules', at.frontend);
      return source.table.effectiveOfRule(kind, at);
    },
    effectiveOfBackend: (kind, of) => {
      read(classifyKind(kind), of.service);
      return source.table.effectiveOfBackend(kind, of);
    },
    listConsumers: (frontend) => {
      read('rules', frontend);
      return source.table.listConsumers(frontend);
    },
    get isCurrent() {
      return source.isCurrent;
    },
  };
}

/** The uses of policies: rules of routes, callers of a service, and servers of a service. */
type PolicyUse = 'rules' | 'callers' | 'servers';

function classifyKind(kind: string): PolicyUse {
  if (callersKinds.has(kind)) return 'callers';
  return serversKinds.has(kind) ? 'servers' : 'rules';
}

/** Announces the recorded reads that a change of policies invalidates. */
export function announcePolicies({ rules, backends, meshes }: PolicyChange, reads: Reads): void {
  for (const { kind, frontend } of rules) reads.changed(`${classifyKind(kind)} ${frontend}`);
  for (const { kind, service } of backends) reads.changed(`${classifyKind(kind)} ${service}`);
  for (const { kind, mesh } of meshes) reads.changed(`${classifyKind(kind)} of ${mesh}`);
}

/** Yields the services whose AccessPolicies may have changed, by identity key. Linear in all services if a policy targets a Mesh. */
export function servicesOfAccess(
  { backends, meshes }: PolicyChange,
  index: Pick<IndexReader, 'ofKind'>,
): readonly ResourceKey[] {
  const isAccess = ({ kind }: { readonly kind: string }): boolean => kind === AccessPolicy.kind;
  const wide = new Set(meshes.filter(isAccess).map(({ mesh }) => mesh));
  const found = new Set(backends.filter(isAccess).map(({ service }) => service));
  if (wide.size > 0) {
    for (const { name } of [MeshService, MeshExternalService])
      for (const { id } of index.ofKind(name)) if (wide.has(id.mesh)) found.add(identityKey(id));
  }
  return [...found];
}
