import {
  identityKey,
  type Identity,
  type JsonObject,
  type Labels,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import { parse } from 'yaml';
import { DEFAULT_MESH_OWNER, Meshes } from '@causeway/meshes';
import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { ResourceIndex } from '@causeway/store';
import type { AccessSource } from '@causeway/xds-translation';

/** Fields of a resource that a test chooses. */
export interface TrafficSketch {
  readonly mesh?: string;
  readonly zone?: string;
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly status?: JsonObject;
  readonly creationOrder?: number;
}

/** A resource of the mesh `default` in zone `west`, unless given. */
export function sketch(kind: string, name: string, spec: JsonObject, given: TrafficSketch = {}): Resource {
  const isSetting = ['Zone', 'Mesh', 'MeshParameters', 'Namespace', 'MetaresourceDefinition'].includes(kind);
  const isGlobal = isSetting || kind === 'ZoneIngress' || kind === 'ZoneEgress';
  const namespaced = /^(MeshService|Dataplane|Gateway|ReferenceGrant|.*Route|.*Policy)$/.test(kind);
  const id: Identity = {
    kind,
    mesh: isGlobal ? '' : (given.mesh ?? 'default'),
    zone: isSetting || kind === 'MeshMultiZoneService' ? '' : (given.zone ?? 'west'),
    namespace: namespaced ? (given.namespace ?? 'default') : '',
    name,
  };
  return {
    id,
    uid: identityKey(id),
    labels: given.labels ?? {},
    spec,
    ...(given.status && { status: given.status }),
    generation: 1,
    creationOrder: given.creationOrder ?? 1,
    createdAt: 0,
    modifiedAt: 0,
    revision: 1,
    origin: { incarnation: 'test', revision: 1, committedAt: 0 },
    freed: [],
  };
}

/** The definitions of the kinds of policies that are shipped. */
export function shippedKinds(): readonly Resource[] {
  return shippedPolicies.map((each) =>
    sketch('MetaresourceDefinition', shippedDefinitionName(each), shippedDefinition(each)),
  );
}

/** An index that a test writes, one batch a call. */
export class TrafficZone {
  readonly index = new ResourceIndex();
  private ready = true;
  private readonly waiting = new Set<() => void>();
  private readonly tls = new Set<string>();
  private readonly ofTls = new Set<(dataplanes: ReadonlySet<ResourceKey>) => void>();
  readonly access: AccessSource = {
    meshes: new Meshes({ index: this.index, owner: DEFAULT_MESH_OWNER, parse }),
    isReady: () => this.ready,
    takesTls: (dataplane) => this.tls.has(dataplane),
    onTls: (listener) => {
      this.ofTls.add(listener);
      return () => this.ofTls.delete(listener);
    },
    onReady: (listener) => {
      this.waiting.add(listener);
      return () => this.waiting.delete(listener);
    },
  };
  private revision = 0;

  constructor(resources: Iterable<Resource> = []) {
    this.index.load({ point: { incarnation: 'test', revision: 0 }, resources: [...resources], tombstones: [] });
  }

  /** Whether a complete first state of the access settings was stored; true by default. */
  set isReady(ready: boolean) {
    this.ready = ready;
    if (ready) for (const listener of this.waiting) listener();
  }

  /** The proxy of a Dataplane has acknowledged that it takes TLS. */
  takeTls({ id }: Resource): void {
    this.tls.add(identityKey(id));
    for (const listener of this.ofTls) listener(new Set([identityKey(id)]));
  }

  put(...resources: readonly Resource[]): void {
    this.revision += 1;
    this.index.apply({ revision: this.revision, changes: resources.map((resource) => ({ type: 'put', resource })) });
  }

  /** Puts and deletes in one batch. */
  change(puts: readonly Resource[], deletes: readonly Resource[]): void {
    this.revision += 1;
    const { revision } = this;
    this.index.apply({
      revision,
      changes: [
        ...puts.map((resource) => ({ type: 'put' as const, resource })),
        ...deletes.map(({ id }) => ({ type: 'delete' as const, tombstone: { id, revision, deletedAt: 0, freed: [] } })),
      ],
    });
  }

  delete(...resources: readonly Resource[]): void {
    this.change([], resources);
  }
}
