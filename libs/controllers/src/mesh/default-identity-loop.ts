import { MeshIdentity } from '@causeway/kinds';
import { MADE_WITH_MESH, type Meshes } from '@causeway/meshes';
import {
  computedLabels,
  globalIdentity,
  Label,
  ownZone,
  type ControlPlane,
  type JsonObject,
} from '@causeway/resources';
import type { Change, IndexEvent, IndexReader, Note, PutChange, WriteResult } from '@causeway/store';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';

/** For whom default MeshIdentities are made. */
export interface DefaultIdentityConfig {
  readonly cp: ControlPlane;
  readonly meshes: Meshes;
}

/** Notes of the uid of a Mesh, by its name: its default MeshIdentity was made. */
const NOTE_AREA = 'default-identities';
/** Meshes of one plan. */
const MESHES_PER_PLAN = 500;
/** The name of the MeshIdentity that is made with a Mesh. */
const NAME = 'default';
/** An id for every Dataplane, by an authority of each zone. Written out: a Kuma zone has no default for `bundled`. */
const SPEC: JsonObject = {
  selector: { dataplane: { matchLabels: {} } },
  provider: { type: 'Bundled', bundled: { autogenerate: { enabled: true }, insecureAllowSelfSigned: true } },
};

/**
 * Makes a MeshIdentity with each Mesh of ours that has none, once for each Mesh: one that a user deleted or changed stays so
 * (docs/design.md §4, defaults). It goes after its Mesh unless a user took it over. A federated zone makes none.
 */
export class DefaultIdentityLoop implements ControlLoop {
  readonly name = 'default-identity';
  readonly noteArea = NOTE_AREA;
  private index: IndexReader | undefined;
  private isStale = false;
  private noted = new Map<string, string>();
  /** Notes that are being written. */
  private pending: readonly Note[] = [];

  constructor(private readonly config: DefaultIdentityConfig) {}

  restore(notes: readonly Note[]): void {
    this.noted.clear();
    this.remember(notes);
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
    const gone = [...this.noted.keys()].filter((mesh) => !index.get(globalIdentity('Mesh', mesh)));
    this.pending = [...made.notes, ...gone.map((key) => ({ area: NOTE_AREA, key, value: null }))];
    return { changes: [...made.changes, ...this.removals(index)], notes: this.pending, more: this.isStale };
  }

  onWritten(_: readonly Change[], { results }: WriteResult): void {
    this.remember(this.pending);
    this.pending = [];
    if (results.some((result) => result.type === 'refused' && result.refusal === 'conflict')) this.isStale = true;
  }

  private creations(index: IndexReader): { readonly changes: readonly Change[]; readonly notes: readonly Note[] } {
    const named = new Set([...index.ofKind(MeshIdentity.name)].map(({ id }) => id.mesh));
    const changes: Change[] = [];
    const notes: Note[] = [];
    for (const { claim, resource, terminating } of this.config.meshes.all()) {
      if (claim !== 'ours' || !resource || terminating || this.noted.get(resource.id.name) === resource.uid) continue;
      if (notes.length >= MESHES_PER_PLAN) {
        this.isStale = true;
        break;
      }
      const mesh = resource.id.name;
      if (!named.has(mesh)) changes.push(this.creation(mesh));
      notes.push({ area: NOTE_AREA, key: mesh, value: { uid: resource.uid } });
    }
    return { changes, notes };
  }

  private creation(mesh: string): PutChange {
    const { cp } = this.config;
    const id = { kind: MeshIdentity.name, mesh, zone: ownZone(cp), namespace: '', name: NAME };
    const labels = { ...computedLabels(MeshIdentity, id, cp), [Label.madeWith]: MADE_WITH_MESH };
    return { type: 'put', id, expect: 'absent', labels, spec: SPEC };
  }

  /** The ones whose Mesh is gone. */
  private removals(index: IndexReader): readonly Change[] {
    return [...index.ofKind(MeshIdentity.name)].flatMap(({ id, labels, revision }): readonly Change[] => {
      const isOurs = id.zone === ownZone(this.config.cp) && labels[Label.madeWith] === MADE_WITH_MESH;
      if (!isOurs || index.get(globalIdentity('Mesh', id.mesh))) return [];
      return [{ type: 'delete', id, expect: revision }];
    });
  }

  private remember(notes: readonly Note[]): void {
    for (const { key, value } of notes) {
      if (typeof value?.['uid'] === 'string') this.noted.set(key, value['uid']);
      else this.noted.delete(key);
    }
  }
}
