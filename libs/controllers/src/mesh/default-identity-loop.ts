import { IdentityPath, MeshIdentity } from '@causeway/kinds';
import { MADE_WITH_MESH, type Meshes } from '@causeway/meshes';
import {
  computedLabels,
  globalIdentity,
  Label,
  ownZone,
  type ControlPlane,
  type JsonObject,
} from '@causeway/resources';
import type { Change, IndexEvent, IndexReader, MetadataEntry, PutChange, WriteResult } from '@causeway/store';
import type { ControlLoop, LoopPlan } from '@causeway/loops';

/** The kinds that are created with a Mesh. */
const MADE = [MeshIdentity, IdentityPath];

/** Configuration of the default MeshIdentities. */
export interface DefaultIdentityConfig {
  readonly cp: ControlPlane;
  readonly meshes: Meshes;
}

/** The metadata area of the uids of Meshes, by name, whose default MeshIdentity was created. */
const METADATA_AREA = 'default-identities';
/** Maximum number of meshes in one plan. */
const MESHES_PER_PLAN = 500;
/** The name of the MeshIdentity that is created with a Mesh. */
const NAME = 'default';
/** An id for every Dataplane, signed by an authority of each zone. Spelled out, because a Kuma zone has no default for `bundled`. */
const SPEC: JsonObject = {
  selector: { dataplane: { matchLabels: {} } },
  provider: { type: 'Bundled', bundled: { autogenerate: { enabled: true }, insecureAllowSelfSigned: true } },
};

/** Ids contain the namespace from the beginning. */
const PATH_SPEC: JsonObject = { preset: 'Namespaced' };

/**
 * Creates a MeshIdentity for each Mesh of ours that has none, and an IdentityPath that adds namespaces to its ids if the mesh has no Dataplanes yet.
 * Both are created once for each Mesh: a user's deletion or change is final (docs/design.md §4, defaults). Both are deleted after their Mesh unless a
 * user took them over. A federated zone creates none.
 */
export class DefaultIdentityLoop implements ControlLoop {
  readonly name = 'default-identity';
  readonly metadataArea = METADATA_AREA;
  private index: IndexReader | undefined;
  private isStale = false;
  private recorded = new Map<string, string>();
  /** Metadata entries that are being written. */
  private pending: readonly MetadataEntry[] = [];

  constructor(private readonly config: DefaultIdentityConfig) {}

  restore(entries: readonly MetadataEntry[]): void {
    this.recorded.clear();
    this.remember(entries);
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.isStale = true;
    this.pending = [];
  }

  observe({ changes }: IndexEvent): void {
    if (changes.some(({ id }) => id.kind === 'Mesh')) this.isStale = true;
  }

  plan(): LoopPlan | undefined {
    const { index, config } = this;
    const isFederated = config.cp.role === 'zone' && config.cp.federated;
    if (!index || !this.isStale || isFederated) return undefined;
    this.isStale = false;
    const made = this.creations(index);
    const gone = [...this.recorded.keys()].filter((mesh) => !index.get(globalIdentity('Mesh', mesh)));
    this.pending = [...made.metadata, ...gone.map((key) => ({ area: METADATA_AREA, key, value: null }))];
    return { changes: [...made.changes, ...this.removals(index)], metadata: this.pending, more: this.isStale };
  }

  onWritten(_: readonly Change[], { results }: WriteResult): void {
    this.remember(this.pending);
    this.pending = [];
    if (results.some((result) => result.type === 'refused' && result.refusal === 'conflict')) this.isStale = true;
  }

  private creations(index: IndexReader): {
    readonly changes: readonly Change[];
    readonly metadata: readonly MetadataEntry[];
  } {
    const named = listMeshes(index, MeshIdentity.name);
    let inUse: ReadonlySet<string> | undefined;
    const changes: Change[] = [];
    const entries: MetadataEntry[] = [];
    for (const { claim, resource, terminating } of this.config.meshes.all()) {
      if (claim !== 'ours' || !resource || terminating || this.recorded.get(resource.id.name) === resource.uid)
        continue;
      if (entries.length >= MESHES_PER_PLAN) {
        this.isStale = true;
        break;
      }
      const mesh = resource.id.name;
      if (!named.has(mesh)) changes.push(this.creation(MeshIdentity, mesh));
      // The ids of a mesh in use are not changed without a user's request.
      inUse ??= new Set([...listMeshes(index, 'Dataplane'), ...listMeshes(index, IdentityPath.name)]);
      if (!inUse.has(mesh)) changes.push(this.creation(IdentityPath, mesh));
      entries.push({ area: METADATA_AREA, key: mesh, value: { uid: resource.uid } });
    }
    return { changes, metadata: entries };
  }

  private creation(kind: typeof MeshIdentity | typeof IdentityPath, mesh: string): PutChange {
    const { cp } = this.config;
    const zone = kind.sync.zoneInIdentity ? ownZone(cp) : '';
    const id = { kind: kind.name, mesh, zone, namespace: '', name: NAME };
    const labels = { ...computedLabels(kind, id, cp), [Label.madeWith]: MADE_WITH_MESH };
    return { type: 'put', id, expect: 'absent', labels, spec: kind === MeshIdentity ? SPEC : PATH_SPEC };
  }

  /** Returns deletions for the resources whose Mesh is gone. */
  private removals(index: IndexReader): readonly Change[] {
    const made = MADE.flatMap(({ name }) => [...index.ofKind(name)]);
    return made.flatMap(({ id, labels, revision }): readonly Change[] => {
      const isHere = id.kind === IdentityPath.name || id.zone === ownZone(this.config.cp);
      const isOurs = isHere && labels[Label.madeWith] === MADE_WITH_MESH;
      if (!isOurs || index.get(globalIdentity('Mesh', id.mesh))) return [];
      return [{ type: 'delete', id, expect: revision }];
    });
  }

  private remember(entries: readonly MetadataEntry[]): void {
    for (const { key, value } of entries) {
      if (typeof value?.['uid'] === 'string') this.recorded.set(key, value['uid']);
      else this.recorded.delete(key);
    }
  }
}

function listMeshes(index: IndexReader, kind: string): ReadonlySet<string> {
  return new Set([...index.ofKind(kind)].map(({ id }) => id.mesh));
}
