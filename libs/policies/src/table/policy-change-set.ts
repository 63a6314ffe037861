import type { FrontendGroup } from '@causeway/routing';
import type { ResourceKey } from '@causeway/resources';
/**
 * Possible effects of a change: effective specs in contexts of frontends (clients' side) and of services' own backends,
 * with keys of identities as in routing's `ChangeSet`, and the policies whose status may differ.
 */
export interface PolicyChangeSet {
  readonly rules: readonly { readonly kind: string; readonly frontend: ResourceKey; readonly group: FrontendGroup }[];
  /** `consumer`: only the view of clients of this namespace changed, which one of their policies created. */
  readonly backends: readonly { readonly kind: string; readonly service: ResourceKey; readonly consumer?: string }[];
  /** Kinds whose rules and backends of a whole mesh may have changed, instead of single ones: a policy on the Mesh changed. */
  readonly meshes: readonly { readonly kind: string; readonly mesh: string }[];
  readonly policies: readonly ResourceKey[];
}

export const NO_POLICY_CHANGES: PolicyChangeSet = { rules: [], backends: [], meshes: [], policies: [] };

/** Collects the effects of one change, or of several done as one. */
export class PolicyChangeSetBuilder {
  private readonly rules = new Map<string, PolicyChangeSet['rules'][number]>();
  private readonly backends = new Map<string, PolicyChangeSet['backends'][number]>();
  private readonly meshes = new Map<string, PolicyChangeSet['meshes'][number]>();
  readonly policies = new Set<ResourceKey>();

  addRule(kind: string, frontend: ResourceKey, group: FrontendGroup): void {
    this.rules.set(`${kind} ${frontend} ${group}`, { kind, frontend, group });
  }

  addBackend(kind: string, service: ResourceKey, consumer: string | undefined): void {
    this.backends.set(`${kind} ${service} ${consumer ?? ''}`, {
      kind,
      service,
      ...(consumer !== undefined && { consumer }),
    });
  }

  addMesh(kind: string, mesh: string): void {
    this.meshes.set(`${kind} ${mesh}`, { kind, mesh });
  }

  build(): PolicyChangeSet {
    const { rules, backends, meshes, policies } = this;
    return {
      rules: [...rules.values()],
      backends: [...backends.values()],
      meshes: [...meshes.values()],
      policies: [...policies],
    };
  }
}
