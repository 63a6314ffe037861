import { PostgresHomes } from '../support/postgres-homes';
import { TestGlobal, TestZone } from '../support/sync-mesh';
import type { TestPlane } from '../support/test-plane';

export const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };

type GlobalOptions = ConstructorParameters<typeof TestGlobal>[0];
type ZoneOptions = ConstructorParameters<typeof TestZone>[1];

/** Replicas of a global and of zones in this process, each with its own connections to its control plane's database. */
export class ReplicaWorld {
  readonly homes = new PostgresHomes();
  private readonly planes: TestPlane[] = [];

  /** A replica of the global that serves; `home` names its database. */
  async global(options: GlobalOptions = {}, home = 'global'): Promise<TestGlobal> {
    const global = new TestGlobal(options, await this.homes.state(home));
    this.planes.push(global);
    await global.index.reached(0);
    await global.serve();
    return global;
  }

  /** A replica of a zone that has not joined; its database has the zone's name unless `home` names another. */
  async zone(name: string, options: ZoneOptions = {}, home = name): Promise<TestZone> {
    const zone = new TestZone(name, options, await this.homes.state(home));
    this.planes.push(zone);
    await zone.index.reached(0);
    return zone;
  }

  /** Ends one replica. */
  async end(plane: TestPlane): Promise<void> {
    this.planes.splice(this.planes.indexOf(plane), 1);
    await plane.close();
  }

  /** Ends all: zones before the global that they are with. */
  async close(): Promise<void> {
    const zonesFirst = (one: TestPlane): number => (one instanceof TestZone ? 0 : 1);
    for (const plane of this.planes.sort((a, b) => zonesFirst(a) - zonesFirst(b))) await plane.close();
    await this.homes.drop();
  }
}
