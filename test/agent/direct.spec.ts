import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DirectPlane, MachineNetwork, type DirectPlaneOptions, type NetworkPlan } from '@causeway/agent/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { JsonObject, Resource } from '@causeway/resources';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { describeWhere } from '../dns/programs';
import { ViewResources } from '../support/local-plane';
import { canFilter, NetworkNamespace } from '../support/network-namespace';
import { sketch, TrafficZone } from '../support/traffic-zone';
import { until } from '../support/until';

const RANGES = ['241.0.0.0/8', 'fd00:fd::/64'];
const PLAN: NetworkPlan = {
  capture: { type: 'translate', ranges: RANGES, sources: ['10.7.1.1', 'fd00:7::1'] },
};
const AGENT = '0b1c2d3e-0000-4000-8000-000000000001';
const { cluster, endpoints, listener } = RESOURCE_TYPES;

/** Listens at each `address,port,answer`: answers each input with `<answer> to <caller>`, and again at the end; HTTP requests get it too. */
const SERVE = `
const net = require('node:net');
const all = process.argv.slice(1).map((one) => one.split(','));
let left = all.length;
for (const [address, port, answer] of all)
  net.createServer({ allowHalfOpen: true }, (socket) => {
    const text = answer + ' to ' + socket.remoteAddress;
    socket.on('error', () => {}).on('end', () => socket.end(', the end'));
    socket.on('data', (data) => /^GET /.test(data)
      ? socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: ' + text.length + '\\r\\nconnection: close\\r\\n\\r\\n' + text)
      : socket.write(text));
  }).listen({ port: +port, host: address }, () => { if (--left === 0) console.log('serving'); });
`;
/**
 * For each line of \`kind,address,port …\`: returns the answers, or the reason why there is none. \`held\`: a connection that stays open for
 * \`again\`.
 */
const CALL = `
const net = require('node:net'), http = require('node:http');
const held = new Map();
const dial = (host, port, run) => new Promise((done) => {
  let text = '';
  const socket = net.connect({ host, port: +port, allowHalfOpen: true }).setTimeout(5000, () => { socket.destroy(); done('no answer'); });
  socket.on('connect', () => run(socket, done)).on('data', (data) => (text += data)).on('end', () => done(text));
  socket.on('error', (error) => done(error.code));
});
const first = (socket, done) => { socket.once('data', (data) => done(String(data))); socket.write('hello'); };
const kinds = {
  say: (host, port) => dial(host, port, (socket, done) => first(socket, (text) => { socket.destroy(); done(text); })),
  end: (host, port) => dial(host, port, (socket) => { socket.write('hello'); socket.once('data', () => socket.end()); }),
  held: (host, port) => dial(host, port, (socket, done) => { held.set(host, socket); first(socket, done); }),
  again: (host) => new Promise((done) => first(held.get(host), done)),
  get: (host, port) => new Promise((done) => http.get({ host, port, agent: false }, (answer) => {
    let text = '';
    answer.on('data', (data) => (text += data)).on('end', () => done(answer.statusCode + ' ' + text));
  }).on('error', (error) => done(error.code))),
};
require('node:readline').createInterface(process.stdin).on('line', async (line) =>
  console.log(JSON.stringify(await Promise.all(line.split(' ').map((one) => {
    const [kind, host, port] = one.split(',');
    return kinds[kind](host, port);
  })))));
console.log('ready');
`;

const mesh = sketch('Mesh', 'default', {
  parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name: 'p' },
});
const settings = (spec: JsonObject): Resource => sketch('MeshParameters', 'p', spec);
const service = (name: string, ip: string, protocol = 'tcp', given: object = {}): Resource =>
  sketch(
    'MeshService',
    name,
    { selector: { dataplaneTags: { app: name } }, ports: [{ port: 80, targetPort: 8080, appProtocol: protocol }] },
    { status: { vip: { ip } }, ...given },
  );
const instance = (name: string, address: string, given: JsonObject = {}): Resource =>
  sketch('Dataplane', `${name}-${address.replace(/\W/g, '-')}`, {
    networking: { address, inbound: [{ port: 8080, tags: { app: name }, ...given }] },
  });

describeWhere(
  'packet filters',
  canFilter,
  'root, nftables and iproute2',
)('the plane direct', () => {
  let machine: NetworkNamespace;
  let peer: NetworkNamespace;
  let caller: ChildProcess;
  let folder: string;
  let zone: TrafficZone;
  let network: MachineNetwork;
  let resources: ViewResources;
  let plane: DirectPlane;
  let known: Map<string, readonly string[]>;

  async function call(...what: readonly string[]): Promise<readonly string[]> {
    const answer = once(caller.stdout ?? caller, 'data');
    caller.stdin?.write(`${what.join(' ')}\n`);
    return JSON.parse(String((await answer)[0])) as readonly string[];
  }

  const create = (options: Partial<DirectPlaneOptions> = {}): DirectPlane =>
    new DirectPlane(resources, {
      network,
      instance: AGENT,
      clock: systemClock,
      logger: silentLogger,
      capturesVirtualIps: true,
      trustedNetworks: ['10.7.0.0/16', 'fd00:7::/64'],
      ...options,
    });

  /** Notifies the plane of all that may have changed. */
  async function refresh(): Promise<readonly (string | undefined)[]> {
    const answers = [];
    for (const type of [cluster, endpoints, listener]) {
      const now = [...resources.names(type)];
      const names = [...new Set([...now, ...(known.get(type) ?? [])])];
      known.set(type, now);
      answers.push(await plane.take({ type, names }));
    }
    return answers;
  }

  async function put(...changed: readonly Resource[]): Promise<void> {
    zone.put(...changed);
    expect(await refresh()).toEqual([undefined, undefined, undefined]);
  }

  beforeAll(async () => {
    [machine, peer] = [await NetworkNamespace.create(), await NetworkNamespace.create()];
    await machine.connect(peer, '10.7.1.1/24', '10.7.1.2/24');
    for (const [end, address] of [
      [peer, '10.7.1.3/24'],
      [peer, 'fd00:7::2/64'],
      [machine, 'fd00:7::1/64'],
    ] as const) {
      const link = (await end.run('ip', ['-o', 'link'])).split('\n').find((line) => line.includes('v'));
      const device = /: (v[^@:]+)/.exec(link ?? '')?.[1] ?? '';
      await end.run('ip', ['addr', 'add', address, 'dev', device, ...(address.includes(':') ? ['nodad'] : [])]);
    }
    await machine.run('nft', ['-f', '-'], 'table inet other { chain c { tcp dport 1 drop; }; }\n');
    await peer.serve(SERVE, '10.7.1.2,8080,first', '10.7.1.3,8080,second', 'fd00:7::2,8080,sixth');
    await machine.serve(SERVE, '10.7.1.1,8080,here', '0.0.0.0,22,process');
    caller = await machine.serve(CALL);
  });
  afterAll(async () => {
    await machine.close();
    await peer.close();
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-direct-'));
    network = new MachineNetwork({ folder, instance: AGENT, tools: machine });
    zone = new TrafficZone([mesh, settings({ mtls: 'Off' })]);
    resources = new ViewResources(zone, 'west', {
      mesh: 'default',
      listed: 'declared',
      capture: { type: 'translate' },
    });
    known = new Map();
    plane = create();
    await network.apply(PLAN);
    await plane.start();
  });
  afterEach(async () => {
    await plane.stop({ drainMs: 0 });
    await network.remove();
    rmSync(folder, { recursive: true });
  });

  it('leads to processes: bytes, requests, the end of one direction; who calls is this machine', async () => {
    await put(service('redis', '241.0.0.1'), service('web', '241.0.0.2', 'http'), service('sixth', 'fd00:fd::6'));
    await put(instance('redis', '10.7.1.2'), instance('web', '10.7.1.3'), instance('sixth', 'fd00:7::2'));
    expect(plane.state.type).toBe('serving');
    expect(await call('say,241.0.0.1,80', 'end,241.0.0.1,80', 'get,241.0.0.2,80', 'say,fd00:fd::6,80')).toEqual([
      'first to 10.7.1.1',
      'first to 10.7.1.1, the end',
      '200 second to 10.7.1.1',
      'sixth to fd00:7::1',
    ]);
    // A process of this machine, at the address of its Dataplane.
    await put(service('own', '241.0.0.3'), instance('own', '10.7.1.1'));
    expect(await call('say,241.0.0.3,80')).toEqual(['here to 10.7.1.1']);
  });

  it('refuses at once what nobody has, or nobody serves, and another port', async () => {
    await put(service('redis', '241.0.0.1'), service('empty', '241.0.0.4'), instance('redis', '10.7.1.2'));
    expect(
      await call('say,241.0.0.9,80', 'say,241.0.0.9,22', 'say,241.0.0.4,80', 'say,241.0.0.1,22', 'say,fd00:fd::9,80'),
    ).toEqual(new Array(5).fill('ECONNREFUSED'));
  });

  it('follows endpoints: each has its share, one that is down none; open connections stay where they are', async () => {
    const [one, two] = [instance('redis', '10.7.1.2'), instance('redis', '10.7.1.3')];
    await put(service('redis', '241.0.0.1'), one);
    expect(await call('held,241.0.0.1,80')).toEqual(['first to 10.7.1.1']);
    await put(two);
    const both = await call(...new Array<string>(60).fill('say,241.0.0.1,80'));
    expect([...new Set(both)].sort()).toEqual(['first to 10.7.1.1', 'second to 10.7.1.1']);
    await put(instance('redis', '10.7.1.2', { state: 'NotReady' }));
    expect(new Set(await call(...new Array<string>(20).fill('say,241.0.0.1,80')))).toEqual(
      new Set(['second to 10.7.1.1']),
    );
    expect(await call('again,241.0.0.1')).toEqual(['first to 10.7.1.1']);
    zone.delete(two);
    await refresh();
    expect(await call('say,241.0.0.1,80')).toEqual(['ECONNREFUSED']);
    zone.delete(service('redis', '241.0.0.1'));
    await refresh();
    expect(plane.rules).toMatchObject({ addresses: 0, lost: 0 });
  });

  it('leads nowhere while servers want an identity', async () => {
    await put(settings({ mtls: 'Strict' }), service('redis', '241.0.0.1'), instance('redis', '10.7.1.2'));
    expect(await call('say,241.0.0.1,80')).toEqual(['ECONNREFUSED']);
    await put(settings({ mtls: 'Permissive' }));
    expect(await call('say,241.0.0.1,80')).toEqual(['first to 10.7.1.1']);
    // Proxies speak TLS to it from now on; it goes on taking both.
    zone.takeTls(instance('redis', '10.7.1.2'));
    expect(await refresh()).toEqual([undefined, undefined, undefined]);
    expect(await call('say,241.0.0.1,80')).toEqual(['first to 10.7.1.1']);
    await put(settings({ mtls: 'Permissive', defaultAccess: 'Deny' }));
    expect(await call('say,241.0.0.1,80')).toEqual(['ECONNREFUSED']);
  });

  it('names what it cannot do of a service', async () => {
    const identities = [{ type: 'SpiffeID', value: 'spiffe://default.east.mesh.local/workload/a' }];
    const ports = [{ port: 80 }];
    await put(
      settings({ mtls: 'Strict' }),
      sketch('MeshZoneAddress', 'in', { address: '10.7.1.2', port: 8080 }, { zone: 'east' }),
      sketch('MeshService', 'away', { identities, ports }, { zone: 'east', status: { vip: { ip: '241.0.0.1' } } }),
      sketch(
        'MeshService',
        'here',
        { ...service('here', '').spec, identities },
        { status: { vip: { ip: '241.0.0.2' } } },
      ),
      instance('here', '10.7.1.2'),
      instance('here', '10.7.1.3'),
    );
    const what = plane.unsupported;
    expect([...what].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'vip:241.0.0.1:80', what: '1 endpoint of zone east for callers with an identity only (mTLS)' },
      { name: 'vip:241.0.0.2:80', what: '2 endpoints of zone west for callers with an identity only (mTLS)' },
    ]);
    await put(settings({ mtls: 'Off' }), instance('here', '192.0.2.9'));
    expect(plane.unsupported[0]).toMatchObject({ what: '1 endpoint outside trustedNetworks' });
  });

  it('serves where anyone may call in plain text only', async () => {
    const own = instance('own', '10.7.1.1');
    resources.view = { ...resources.view, dataplane: own.id };
    await put(own);
    expect([plane.state.type, [...plane.refusedInbounds.keys()]]).toEqual(['serving', []]);
    const deny = { defaultAccess: 'Deny' };
    for (const refused of [{ mtls: 'Strict' }, { mtls: 'Permissive', ...deny }, { mtls: 'Off', ...deny }]) {
      await put(settings(refused));
      expect(plane.state).toMatchObject({
        type: 'failed',
        reason: expect.stringContaining('inbound 10.7.1.1:8080: callers need an identity'),
      });
      await put(settings({ mtls: 'Permissive' }));
      expect(plane.state.type).toBe('serving');
    }
  });

  it('leaves rules and routes as they were, also those of one that was killed; what that one led to goes on meanwhile', async () => {
    // A killed plane watches nothing any more.
    const mortal = { clock: new FakeClock(0) };
    await plane.stop({ drainMs: 0 });
    plane = create(mortal);
    await plane.start();
    await put(service('redis', '241.0.0.1'), instance('redis', '10.7.1.2'));
    const during = await machine.state();
    // The first is killed: another one of the same folder takes over its rules.
    expect(await call('say,241.0.0.1,80')).toEqual(['first to 10.7.1.1']);
    network = new MachineNetwork({ folder, instance: AGENT, tools: machine });
    await network.apply(PLAN);
    plane = create();
    await plane.start();
    expect(await machine.state()).toBe(during);
    expect(await call('say,241.0.0.1,80')).toEqual(['first to 10.7.1.1']);
    await plane.stop({ drainMs: 0 });
    await network.remove();
    const before = await machine.state();
    expect(before).not.toContain('causeway');
    expect(before).not.toContain('241.0.0.0/8');
    // Killed, and its next run has another plane, or takes everything back.
    for (const next of [{ capture: { type: 'redirect', ranges: RANGES, port: 15_001 } }, {}] as NetworkPlan[]) {
      await network.apply(PLAN);
      plane = create(mortal);
      await plane.start();
      network = new MachineNetwork({ folder, instance: AGENT, tools: machine });
      await network.apply(next);
      expect(await machine.state()).not.toContain('causeway_direct');
      await network.remove();
      expect(await machine.state()).toBe(before);
    }
  });

  it('writes its rules anew where somebody has removed or flushed them, and counts that', async () => {
    await put(service('redis', '241.0.0.1'), instance('redis', '10.7.1.2'));
    const table = ['table', 'inet', 'causeway_direct'];
    const answer = async (): Promise<string | undefined> => (await call('say,241.0.0.1,80'))[0];
    await machine.run('nft', ['delete', ...table]);
    // By the next change, or by a look before it.
    await put(instance('redis', '10.7.1.3'));
    expect(await answer()).toMatch(/^(first|second) /);
    expect(plane.rules).toMatchObject({ restored: 1, addresses: 1, slots: 2 });
    const during = await machine.state();
    let times = 1;
    for (const what of [
      ['delete', ...table],
      ['flush', ...table],
      ['flush', 'map', 'inet', table[2] ?? '', 'services4'],
    ]) {
      await machine.run('nft', what);
      times += 1;
      await until('it is seen', () => Promise.resolve(plane.rules?.restored === times));
      expect(await answer()).toMatch(/^(first|second) /);
      expect(await machine.state()).toBe(during);
    }
  });
});
