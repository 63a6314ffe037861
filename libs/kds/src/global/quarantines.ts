import { Forbidden, globalIdentity, type Registry, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { QUARANTINED, quarantineOf, type Quarantine } from '@causeway/sync';

/** What the operator keeps away of each zone, as the index knows it now. */
export class Quarantines {
  private readonly read = new WeakMap<Resource, Quarantine>();

  constructor(
    private readonly index: IndexReader,
    private readonly registry: Registry,
  ) {}

  /** Of a Zone at some moment. */
  of(zone: Resource): Quarantine {
    const known = this.read.get(zone);
    if (known) return known;
    const quarantine = quarantineOf(zone.spec['quarantine'], zone.id.name, this.registry);
    this.read.set(zone, quarantine);
    return quarantine;
  }

  /** Of the zone with this name; undefined where it is not known. */
  ofZone(name: string): Quarantine | undefined {
    const zone = this.index.get(globalIdentity('Zone', name));
    return zone && this.of(zone);
  }

  /** Throws Forbidden where the whole zone is kept away. */
  check(name: string): void {
    if (this.ofZone(name)?.all !== true) return;
    throw new Forbidden(
      `zone ${name} is ${QUARANTINED}; to let it in again: causeway zones quarantine ${name} --release`,
    );
  }

  /** See Quarantine. */
  cutsOf(name: string): (kind: string) => string {
    return (kind) => this.ofZone(name)?.digest(kind) ?? '';
  }
}
