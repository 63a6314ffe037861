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
import { lostStateOf } from './lost-zone';

/** Export rule of services that have none. */
export type ExportDefault = 'All' | 'None';

/** A zone as other zones see it. */
interface ZoneView {
  readonly visible: boolean;
  readonly labels: Labels;
}

/** Labels that export rules do not select by: they say where a Zone was made, not what it is. */
const UNSELECTABLE_LABELS: readonly string[] = [Label.origin, Label.displayName];

/** The part of the global's state that decides which zone gets which resource, at one moment; immutable. */
export class MeshView {
  private constructor(
    readonly meshes: ReadonlySet<string>,
    private readonly zones: ReadonlyMap<string, ZoneView>,
    private readonly exportDefault: ExportDefault,
  ) {}

  /** The view that follows from the names of the meshes that are served and from all Zones. */
  static of(meshes: Iterable<string>, zones: Iterable<Resource>, exportDefault: ExportDefault = 'All'): MeshView {
    const views = [...zones].map((zone): [string, ZoneView] => [
      zone.id.name,
      { visible: isVisible(zone), labels: zone.labels },
    ]);
    return new MeshView(new Set(meshes), new Map(views), exportDefault);
  }

  /**
   * Whether other zones may get the resources of this one: it exists, is enabled, not quarantined, not withdrawn as
   * lost.
   */
  isZoneVisible(zone: string): boolean {
    return this.zones.get(zone)?.visible ?? false;
  }

  /** Whether the zone `to` may get this resource of another zone, by that zone's visibility and `spec.export`. */
  exports(resource: Resource, to: string): boolean {
    if (to === resource.id.zone || !this.isZoneVisible(resource.id.zone)) return false;
    const rule = resource.spec['export'];
    if (!isJsonObject(rule)) return this.exportDefault === 'All';
    if (rule['mode'] !== 'Subset') return rule['mode'] === 'All';
    const wanted = rule['zones'];
    if (isJsonArray(wanted)) return wanted.includes(to);
    const labels = isJsonObject(wanted) ? wanted['matchLabels'] : undefined;
    return isLabels(labels) && labelsMatch(labels, this.zones.get(to)?.labels ?? {});
  }

  /** The part of the view that decides what zones get of a kind, as text: equal texts give equal states. */
  describe(kind: Kind): string {
    const meshes = kind.scope === 'mesh' ? [...this.meshes].sort() : [];
    if (!crossesZones(kind.sync)) return JSON.stringify([meshes]);
    const zones = [...this.zones].map(([name, { visible, labels }]) => [name, visible, selectableLabels(labels)]);
    return JSON.stringify([meshes, zones.sort(), this.exportDefault]);
  }

  /** Zones whose visibility differs between the two views. */
  zonesChangedSince(older: MeshView): readonly string[] {
    const names = new Set([...this.zones.keys(), ...older.zones.keys()]);
    return [...names].filter((name) => this.isZoneVisible(name) !== older.isZoneVisible(name));
  }

  /** Whether a label changed that export rules select by. */
  isRelabelledSince(older: MeshView): boolean {
    const names = new Set([...this.zones.keys(), ...older.zones.keys()]);
    const of = (view: MeshView, name: string): string =>
      JSON.stringify(selectableLabels(view.zones.get(name)?.labels ?? {}));
    return [...names].some((name) => of(this, name) !== of(older, name));
  }

  /** Meshes that only one of the two views has. */
  meshesChangedSince(older: MeshView): readonly string[] {
    const names = new Set([...this.meshes, ...older.meshes]);
    return [...names].filter((name) => this.meshes.has(name) !== older.meshes.has(name));
  }
}

function isVisible(zone: Resource): boolean {
  const { enabled, quarantine } = zone.spec;
  const isQuarantined = isJsonObject(quarantine) && quarantine['all'] === true;
  return enabled !== false && !isQuarantined && lostStateOf(zone)?.policy !== 'withdraw';
}

function selectableLabels(labels: Labels): readonly (readonly [string, string])[] {
  return Object.entries(labels)
    .filter(([key]) => !UNSELECTABLE_LABELS.includes(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function isLabels(value: unknown): value is Labels {
  return isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string');
}
