import {
  crossesZones,
  isJsonArray,
  isJsonObject,
  Label,
  labelsMatch,
  type Kind,
  type Labels,
  type Resource,
} from '@causeway/resources';
import { readLostState, listMeshesWithLoss } from './lost-zone';

/** Export rule of services that have none. */
export type ExportDefault = 'All' | 'None';

/** A mesh whose resources are sent. */
export interface SyncedMesh {
  readonly name: string;
  readonly parameters: {
    /** Default for services without an export rule; the configured default if absent. */
    readonly exportDefault?: ExportDefault;
  };
}

/** A zone as other zones see it. */
interface ZoneView {
  readonly visible: boolean;
  /** The meshes that are exceptions to `visible`, sorted. */
  readonly except: readonly string[];
  readonly labels: Labels;
}

/** Labels that export rules cannot select by: they describe where a Zone was created, not the Zone itself. */
const UNSELECTABLE_LABELS: readonly string[] = [Label.origin, Label.displayName];

/** The part of the global's state that decides which zone gets which resource, at one moment; immutable. */
export class MeshView {
  private constructor(
    /** The export default of each mesh whose resources are sent. */
    private readonly meshes: ReadonlyMap<string, ExportDefault>,
    private readonly zones: ReadonlyMap<string, ZoneView>,
    /** The configured default, for kinds without a mesh. */
    private readonly exportDefault: ExportDefault,
  ) {}

  /** Builds the view from all served meshes and all Zones; `exportDefault` is the configured one. */
  static of(meshes: Iterable<SyncedMesh>, zones: Iterable<Resource>, exportDefault: ExportDefault = 'All'): MeshView {
    const defaults = [...meshes].map((mesh) => [mesh.name, mesh.parameters.exportDefault ?? exportDefault] as const);
    return new MeshView(
      new Map(defaults),
      new Map([...zones].map((zone) => [zone.id.name, toZoneView(zone)])),
      exportDefault,
    );
  }

  /** Returns whether resources of this mesh are synced: it exists and is not foreign. */
  hasMesh(mesh: string): boolean {
    return this.meshes.has(mesh);
  }

  /**
   * Returns whether other zones may get this zone's resources in this mesh: the zone exists, is enabled, not
   * quarantined, not withdrawn as lost. Resources without a mesh (`''`) are visible if the zone is visible in any mesh.
   */
  isZoneVisible(zone: string, mesh: string): boolean {
    const view = this.zones.get(zone);
    if (view === undefined) return false;
    return mesh === '' ? view.visible || view.except.length > 0 : view.visible !== view.except.includes(mesh);
  }

  /** Returns whether the zone `to` may get this resource of another zone, by that zone's visibility and `spec.export`. */
  exports(resource: Resource, to: string): boolean {
    if (to === resource.id.zone || !this.isZoneVisible(resource.id.zone, resource.id.mesh)) return false;
    const rule = resource.spec['export'];
    if (!isJsonObject(rule)) return (this.meshes.get(resource.id.mesh) ?? this.exportDefault) === 'All';
    if (rule['mode'] !== 'Subset') return rule['mode'] === 'All';
    const wanted = rule['zones'];
    if (isJsonArray(wanted)) return wanted.includes(to);
    const labels = isJsonObject(wanted) ? wanted['matchLabels'] : undefined;
    return isLabels(labels) && labelsMatch(labels, this.zones.get(to)?.labels ?? {});
  }

  /** Returns the part of the view that decides what zones get of a kind, as text: equal texts give equal states. */
  describe(kind: Kind): string {
    const meshes = kind.scope === 'mesh' ? [...this.meshes].sort() : [];
    if (!crossesZones(kind.sync)) return JSON.stringify([meshes.map(([name]) => name)]);
    const zones = [...this.zones].map(([name, { visible, except, labels }]) => [
      name,
      visible,
      selectableLabels(labels),
      ...(except.length > 0 ? [except] : []),
    ]);
    return JSON.stringify([meshes, zones.sort(), this.exportDefault]);
  }

  /** Returns the zones whose visibility to others differs between the two views, for some mesh. */
  zonesChangedSince(older: MeshView): readonly string[] {
    const names = new Set([...this.zones.keys(), ...older.zones.keys()]);
    const of = (view: MeshView, name: string): string => {
      const { visible = false, except = [] } = view.zones.get(name) ?? {};
      return JSON.stringify([visible, except]);
    };
    return [...names].filter((name) => of(this, name) !== of(older, name));
  }

  /** Returns whether a label changed that export rules select by. */
  isRelabelledSince(older: MeshView): boolean {
    const names = new Set([...this.zones.keys(), ...older.zones.keys()]);
    const of = (view: MeshView, name: string): string =>
      JSON.stringify(selectableLabels(view.zones.get(name)?.labels ?? {}));
    return [...names].some((name) => of(this, name) !== of(older, name));
  }

  /** Returns the meshes that only one of the two views has, and those whose export default differs. */
  meshesChangedSince(older: MeshView): readonly string[] {
    const names = new Set([...this.meshes.keys(), ...older.meshes.keys()]);
    return [...names].filter((name) => this.meshes.get(name) !== older.meshes.get(name));
  }
}

function toZoneView(zone: Resource): ZoneView {
  const { enabled, quarantine } = zone.spec;
  const { labels } = zone;
  const isQuarantined = isJsonObject(quarantine) && quarantine['all'] === true;
  if (enabled === false || isQuarantined) return { visible: false, except: [], labels };
  const isKept = (mesh?: string): boolean => readLostState(zone, mesh)?.policy !== 'withdraw';
  const visible = isKept();
  return { visible, except: listMeshesWithLoss(zone).filter((mesh) => isKept(mesh) !== visible), labels };
}

function selectableLabels(labels: Labels): readonly (readonly [string, string])[] {
  return Object.entries(labels)
    .filter(([key]) => !UNSELECTABLE_LABELS.includes(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function isLabels(value: unknown): value is Labels {
  return isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string');
}
