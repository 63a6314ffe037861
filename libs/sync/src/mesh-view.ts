import type { Kind, Resource } from '@causeway/resources';

/** What of the global's state decides who gets which resource, at one moment; never changed in place. */
export class MeshView {
  private constructor(
    readonly meshes: ReadonlySet<string>,
    private readonly zones: ReadonlyMap<string, boolean>,
  ) {}

  /** The view that follows from all Meshes and Zones. */
  static of(meshes: Iterable<Resource>, zones: Iterable<Resource>): MeshView {
    return new MeshView(
      new Set([...meshes].map((mesh) => mesh.id.name)),
      new Map([...zones].map((zone) => [zone.id.name, zone.spec['enabled'] !== false])),
    );
  }

  /** Whether other zones may know what comes from this one: it exists and is enabled. */
  isOpen(zone: string): boolean {
    return this.zones.get(zone) ?? false;
  }

  /** Whether the zone `to` may know this resource of another zone. */
  exports(resource: Resource, to: string): boolean {
    return to !== resource.id.zone && this.isOpen(resource.id.zone);
  }

  /** What of this view decides what zones get of a kind, as text; equal texts cut equal states. */
  describe(kind: Kind): string {
    const meshes = kind.scope === 'mesh' ? [...this.meshes].sort() : [];
    const open =
      kind.sync.down === 'everything' ? [...this.zones.keys()].filter((zone) => this.isOpen(zone)).sort() : [];
    return JSON.stringify([meshes, open]);
  }

  /** Zones whose openness differs between two views. */
  zonesChangedSince(older: MeshView): readonly string[] {
    const names = new Set([...this.zones.keys(), ...older.zones.keys()]);
    return [...names].filter((name) => this.isOpen(name) !== older.isOpen(name));
  }

  /** Meshes that only one of two views has. */
  meshesChangedSince(older: MeshView): readonly string[] {
    const names = new Set([...this.meshes, ...older.meshes]);
    return [...names].filter((name) => this.meshes.has(name) !== older.meshes.has(name));
  }
}
