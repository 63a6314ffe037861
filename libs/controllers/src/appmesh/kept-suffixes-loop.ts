import { isCovered, suffixFor } from '@causeway/appmesh';
import { MeshNaming, MAX_SUFFIXES } from '@causeway/kinds';
import { KEPT_AT_UPGRADE, otherGiver } from '@causeway/meshes';
import {
  computedLabels,
  isJsonArray,
  isJsonObject,
  identityKey,
  Label,
  labelValue,
  ownZone,
  type ControlPlane,
  type Identity,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import { SlicedWork } from '@causeway/runtime';
import {
  DoubleBuffer,
  type Change,
  type IndexEvent,
  type IndexReader,
  type MetadataEntry,
  type PutChange,
  type WriteResult,
} from '@causeway/store';
import type { ControlLoop, LoopPlan } from '@causeway/loops';

/** The metadata area of the entry that records that App Mesh names are under the suffixes of their mesh here. */
const METADATA_AREA = 'app-mesh-suffixes';
const METADATA_KEY = 'kept';
/** The name of the MeshNaming that keeps the names from before the upgrade. */
const NAME = 'kept-at-upgrade';
const SERVICE = 'MeshService';
/** Maximum number of changes in one plan. */
const CHANGES_PER_PLAN = 500;

/** An App Mesh name that is a hostname of a generated service. */
interface StandingName {
  readonly mesh: string;
  readonly namespace: string;
  readonly hostname: string;
}
/** By the key of the service. */
type StandingNames = Map<ResourceKey, StandingName>;

/**
 * Keeps the names that VirtualServices had before names came under suffixes, once for each store: writes a MeshNaming for each mesh with the suffixes
 * of these names. A name that another generator gives too is not kept. `isSettled` is false, and no name is removed, until the store records
 * completion. A zone deletes its kept MeshNaming when the global has one for the mesh.
 */
export class KeptSuffixesLoop implements ControlLoop {
  readonly name = 'app-mesh-kept-suffixes';
  readonly metadataArea = METADATA_AREA;
  private readonly standing: DoubleBuffer<StandingNames, undefined>;
  private readonly collecting = new SlicedWork();
  private readonly suffixes = new Map<string, Map<string, number>>();
  private index: IndexReader | undefined;
  private settled = false;
  private pending: 'note' | undefined;
  private creations: PutChange[] | undefined;
  private isStale = false;

  constructor(private readonly cp: ControlPlane) {
    this.standing = new DoubleBuffer({
      empty: () => new Map<ResourceKey, StandingName>(),
      fill: (names) => this.fill(names),
      apply: (names, { changes }) => {
        for (const { id, key, after } of changes) if (id.kind === SERVICE) setStanding(names, key, after);
        return undefined;
      },
    });
  }

  /** Whether names are under the suffixes of their mesh here. */
  get isSettled(): boolean {
    return this.settled;
  }

  restore(entries: readonly MetadataEntry[]): void {
    this.settled = entries.some(({ key, value }) => key === METADATA_KEY && value !== null);
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.isStale = true;
    this.pending = undefined;
    this.creations = undefined;
    this.suffixes.clear();
    this.collecting.begin(this.settled ? [] : this.collect(index));
  }

  observe(event: IndexEvent): void {
    const { changes } = event;
    if (!this.settled) this.standing.apply(event);
    if (changes.some(({ id }) => id.kind === MeshNaming.name)) this.isStale = true;
  }

  plan(): LoopPlan | undefined {
    const { index } = this;
    if (!index) return undefined;
    if (!this.settled) return this.collecting.advance() ? this.keep() : { changes: [], more: true };
    if (!this.isStale) return undefined;
    this.isStale = false;
    const changes = this.cp.role === 'zone' ? handedOver(index, this.cp) : [];
    return changes.length === 0 ? undefined : { changes };
  }

  onWritten(_: readonly Change[], { results }: WriteResult): void {
    if (results.some((result) => result.type === 'refused' && result.refusal === 'conflict')) this.isStale = true;
    if (this.pending === 'note') this.settled = true;
    this.pending = undefined;
  }

  /** Plans the suffixes to keep, and with the last of them the metadata entry. */
  private keep(): LoopPlan {
    this.creations ??= [...this.suffixes].map(([mesh, counts]) => creation(mesh, counts, this.cp));
    const changes = this.creations.splice(0, CHANGES_PER_PLAN);
    if (this.creations.length > 0) return { changes, more: true };
    this.pending = 'note';
    return { changes, metadata: [{ area: METADATA_AREA, key: METADATA_KEY, value: { meshes: this.suffixes.size } }] };
  }

  private *fill(names: StandingNames): Generator<unknown> {
    for (const service of this.index?.ofKind(SERVICE) ?? []) yield setStanding(names, identityKey(service.id), service);
  }

  /** Collects the suffixes of existing names, one name a step. */
  private *collect(index: IndexReader): Generator<unknown> {
    yield* this.standing.refill();
    for (const { mesh, namespace, hostname } of this.standing.table.values()) {
      yield;
      if (otherGiver(index, { mesh, hostname }, this.cp)) continue;
      const suffix = suffixFor(hostname, namespace);
      if (suffix === undefined || !isCovered(new Set([suffix]), hostname, namespace)) continue;
      const counts = this.suffixes.get(mesh) ?? new Map<string, number>();
      this.suffixes.set(mesh, counts.set(suffix, (counts.get(suffix) ?? 0) + 1));
    }
  }
}

function setStanding(names: StandingNames, key: ResourceKey, service: Resource | undefined): void {
  const hostname = service && standingName(service);
  if (!service || hostname === undefined) names.delete(key);
  else names.set(key, { mesh: service.id.mesh, namespace: service.id.namespace, hostname });
}

/** Returns the App Mesh name that a generated service has as its hostname; undefined if it has none. */
function standingName({ labels, status }: Resource): string | undefined {
  const awsName = labelValue(labels, Label.awsName);
  if (awsName === undefined || labelValue(labels, Label.generatedFrom) !== 'VirtualService') return undefined;
  const addresses = status?.['addresses'];
  // A copy whose zone has not reported its names.
  if (!isJsonArray(addresses)) return awsName;
  return addresses.some((one) => isJsonObject(one) && one['hostname'] === awsName) ? awsName : undefined;
}

/** If a MeshNaming cannot hold all suffixes, those of the most names are kept. */
function creation(mesh: string, counts: ReadonlyMap<string, number>, cp: ControlPlane): PutChange {
  const id: Identity = { kind: MeshNaming.name, mesh, zone: ownZone(cp), namespace: '', name: NAME };
  const ranked = [...counts].sort(([a, one], [b, two]) => two - one || (a < b ? -1 : 1)).slice(0, MAX_SUFFIXES);
  const suffixes = ranked.map(([suffix]) => suffix).sort();
  const labels = { ...computedLabels(MeshNaming, id, cp), [Label.madeWith]: KEPT_AT_UPGRADE };
  return { type: 'put', id, expect: 'absent', labels, spec: { suffixes } };
}

/** Deletes the MeshNaming that this zone kept if the global has one for the mesh: the global's then decides. */
function handedOver(index: IndexReader, cp: ControlPlane): readonly Change[] {
  const namings = [...index.ofKind(MeshNaming.name)];
  const named = new Set(namings.filter(({ id }) => id.zone === '').map(({ id }) => id.mesh));
  return namings.flatMap(({ id, labels, revision }): readonly Change[] =>
    id.zone === ownZone(cp) && id.zone !== '' && labels[Label.madeWith] === KEPT_AT_UPGRADE && named.has(id.mesh)
      ? [{ type: 'delete', id, expect: revision }]
      : [],
  );
}
