import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';

const COUNT = 400;
const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };

/** Counts the bytes from a server on their way. */
class Meter {
  bytes = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on('connection', (near) => {
      const far = connect(this.target, '127.0.0.1');
      for (const socket of [near, far]) this.sockets.add(socket.on('error', () => socket.destroy()));
      far.on('data', ({ length }: Buffer) => (this.bytes += length));
      near.pipe(far).pipe(near);
    });
  }

  static async open(target: number): Promise<Meter> {
    const meter = new Meter(createServer(), target);
    await once(meter.server.listen(0, '127.0.0.1'), 'listening');
    return meter;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('zones that join at once', () => {
  let global: TestGlobal;
  let meter: Meter;
  const zones: TestZone[] = [];
  const zone = (name: string): TestZone => {
    const made = new TestZone(name);
    zones.push(made);
    return made;
  };

  beforeEach(async () => {
    global = new TestGlobal();
    await global.put('Mesh', 'default', {});
    await global.serve();
    meter = await Meter.open(global.port);
  });
  afterEach(async () => {
    for (const each of zones.splice(0)) await each.close();
    await meter.close();
    await global.close();
  });

  it('get compressed chunks, and each only what its rules of export give', async () => {
    const east = zone('east');
    await east.join(global);
    await east.holds(global.id('Mesh', 'default'));
    const exports = [{ mode: 'All' }, { mode: 'None' }, { mode: 'Subset', zones: ['west'] }];
    const services = Array.from({ length: COUNT }, (_, n) => ({
      name: `service-${n}`,
      spec: { ...SPEC, export: exports[n % 3] ?? {} },
    }));
    for (const { name, spec } of services) await east.put('MeshService', name, spec);
    await global.until(() => global.index.countKind('MeshService') === COUNT);
    const [west, north, south] = [zone('west'), zone('north'), zone('south')];
    await Promise.all([west, north, south].map((each) => each.join(meter)));
    const named = (wanted: readonly number[]): string[] =>
      services.flatMap(({ name }, n) => (wanted.includes(n % 3) ? [`east/${name}`] : [])).sort();
    const held = async (each: TestZone, expected: readonly string[]): Promise<void> => {
      await each.until(() => each.index.countKind('MeshService') >= expected.length);
      expect([...each.names('MeshService')].sort()).toEqual(expected);
    };
    await held(west, named([0, 2]));
    await held(north, named([0]));
    await held(south, named([0]));
    const resources = [west, north, south].reduce((sum, { index }) => sum + index.countKind('MeshService'), 0);
    // 637 uncompressed, with the messages of all other kinds.
    expect(meter.bytes / resources).toBeLessThan(320);
    for (const name of ['west', 'north', 'south'])
      expect(await global.report(name, 'MeshService')).toMatchObject({ rejected: 0, waiting: 0 });
  });
});
