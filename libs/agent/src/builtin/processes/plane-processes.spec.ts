import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { silentLogger, systemClock } from '@causeway/runtime';
import type { Resource } from '@causeway/resources';
import { BuiltinPlane } from '../builtin-plane';
import { rawStats } from '../../../testing/raw-stats';
import { PlaneProcesses } from './plane-processes';
import { LocalPlane, ViewResources } from '../../../../../test/support/local-plane';
import { loopbackBlock } from '../../../../../test/support/loopback-networks';
import { echo, say, type ServiceProcess } from '../../../../../test/support/mesh-processes';
import { TestAuthority } from '../../../../../test/support/test-authority';
import { sketch, TrafficZone } from '../../../../../test/support/traffic-zone';
import { until } from '../../../../../test/support/until';

const host = loopbackBlock();
const PORT = 6379;
const COUNT = 2;

describe('several processes for the planes of a machine', () => {
  const zone = new TrafficZone();
  let processes: PlaneProcesses;
  let app: ServiceProcess;
  let authority: TestAuthority;
  let [server, client]: readonly LocalPlane[] = [];

  const service = (name: string, last: number): Resource =>
    sketch(
      'MeshService',
      name,
      {
        selector: { dataplaneTags: { app: 'echo' } },
        ports: [{ port: PORT }],
        identities: [{ type: 'SpiffeID', value: 'spiffe://default.west.mesh.local/workload/server' }],
      },
      { status: { vip: { ip: host(last) } } },
    );

  beforeAll(async () => {
    authority = await TestAuthority.create('west');
    app = await echo('app');
    const caBundles = [{ type: 'Pem', pem: { value: authority.certificate } }];
    const inbound = [{ port: PORT, servicePort: app.port, tags: { app: 'echo' } }];
    const dataplane = sketch('Dataplane', 'server', { networking: { address: host(101), inbound } });
    zone.put(
      sketch('MeshTrust', 'west', { trustDomain: 'default.west.mesh.local', caBundles }, { zone: '' }),
      service('echo', 1),
      dataplane,
    );
    processes = PlaneProcesses.start({ processes: COUNT, clock: systemClock, logger: silentLogger });
    const plane = async (workload: string, view: object): Promise<LocalPlane> => {
      const { chain, key } = await authority.issue({ uri: `spiffe://default.west.mesh.local/workload/${workload}` });
      const identity = () => ({ chain, key: { pem: key } });
      const whole = { mesh: 'default', listed: new Set<string>(), identity, ...view };
      const made = new LocalPlane(new ViewResources(zone, 'west', whole), { processes });
      await made.start();
      return made;
    };
    server = await plane('server', { dataplane: dataplane.id });
    client = await plane('client', { listed: 'all', capture: { type: 'bind' } });
    await until('an answer', async () => (await say(host(1), PORT)) === 'app:hello');
  });
  afterAll(async () => {
    await Promise.all([server?.plane.stop({ drainMs: 0 }), client?.plane.stop({ drainMs: 0 })]);
    await processes.close();
    await app.stop();
  });

  const asked = (): readonly string[] => client?.resources.asked('type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret') ?? []; // prettier-ignore

  it('take connections in turn, and count together; what they need is asked for once', async () => {
    expect(processes.state.pids).toHaveLength(COUNT);
    const name = `listener.${host(1)}_${PORT}.downstream_cx_total`;
    const before = (await client?.stat(name)) ?? 0;
    const answers = await Promise.all(Array.from({ length: 20 }, () => say(host(1), PORT)));
    expect(new Set(answers)).toEqual(new Set(['app:hello']));
    expect(await client?.stat(name)).toBe(before + 20);
    expect(asked()).toEqual(['identity', 'trust']);
  });

  it('obey what changes: all of them', async () => {
    zone.put(service('late', 2));
    expect(await client?.refresh()).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 2 * COUNT }, () => say(host(2), PORT)));
    expect(new Set(answers)).toEqual(new Set(['app:hello']));
    zone.delete(service('late', 2));
    await client?.refresh();
    await until('nobody', async () => (await say(host(2), PORT)) === '');
  });

  it('one that is killed takes only its own connections with it, and is started again with all that it had received', async () => {
    const { chain: cert, key } = await authority.issue({ uri: 'spiffe://default.west.mesh.local/workload/caller' });
    // Past the client's plane: else each connection would go through two of the processes.
    const at = { host: host(101), port: PORT, cert, key, rejectUnauthorized: false };
    const sockets = Array.from({ length: 4 * COUNT }, () => connectTls(at).on('error', () => undefined));
    await Promise.all(
      sockets.map(async (socket) => {
        socket.write('x');
        await once(socket, 'data');
      }),
    );
    let closed = 0;
    for (const socket of sockets) socket.on('close', () => (closed += 1));
    const [victim = 0] = processes.state.pids;
    process.kill(victim, 'SIGKILL');
    await until('connections of the victim', () => closed > 0);
    expect(closed).toBeLessThan(sockets.length);
    await until(
      'another process',
      () => processes.state.pids.length === COUNT && !processes.state.pids.includes(victim),
    );
    await until('it serves', async () => {
      const answers = await Promise.all(Array.from({ length: 2 * COUNT }, () => say(host(1), PORT)));
      return answers.every((answer) => answer === 'app:hello');
    });
    expect(processes.state.restarts).toBe(1);
    expect(asked()).toEqual(['identity', 'trust']);
    for (const socket of sockets) socket.destroy();
  });

  it('say what they cannot open', async () => {
    const taken = await echo('somebody', host(3), PORT);
    zone.put(service('taken', 3));
    expect(await client?.refresh()).toEqual([expect.stringContaining(`outbound:${host(3)}:${PORT}: `)]);
    await taken.stop();
    zone.delete(service('taken', 3));
    await client?.refresh();
  });

  it('become more and fewer while planes run', async () => {
    await processes.resize(COUNT + 1);
    await until('one more serves', async () => {
      const answers = await Promise.all(Array.from({ length: 3 * COUNT }, () => say(host(1), PORT)));
      return processes.state.pids.length === COUNT + 1 && answers.every((answer) => answer === 'app:hello');
    });
    await processes.resize(COUNT);
    expect(processes.state).toMatchObject({ pids: { length: COUNT }, restarts: 1 });
    expect(await say(host(1), PORT)).toBe('app:hello');
  });

  it('a plane that stops leaves the others', async () => {
    await client?.plane.stop({ drainMs: 0 });
    expect(await say(host(1), PORT)).toBe('');
    const one = new BuiltinPlane(client?.resources ?? new ViewResources(zone, 'west', { mesh: 'default', listed: 'all' }), { clock: systemClock, processes }); // prettier-ignore
    await one.start();
    await until('an answer', async () => (await say(host(1), PORT)) === 'app:hello');
    expect(rawStats(await one.stats()).get('listener_manager.total_listeners_active')).toBeGreaterThan(0);
    await one.stop({ drainMs: 0 });
  });
});
