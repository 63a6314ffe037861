/*
 * `redirect` and `direct` in network namespaces; times and throughput at 10,000 virtual IPs by `bench/capture.ts`.
 * Also: test/agent/direct.spec.ts, test/agent/direct-process.spec.ts, libs/agent/src/capture/service-maps.spec.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MachineNetwork, type NetworkPlan } from '@causeway/agent/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { describeWhere } from '../dns/programs';
import { dialFrom, serveIn } from '../support/namespace-programs';
import { canFilter, NetworkNamespace } from '../support/network-namespace';
import { until } from '../support/until';

const RANGES = ['241.0.0.0/8', '243.0.0.0/8', 'fd00:fd::/64'];
const REDIRECT: NetworkPlan = { capture: { type: 'redirect', ranges: RANGES, port: 15_001 } };
const LISTEN: NetworkPlan = { capture: { type: 'listen', ranges: RANGES } };
const AGENT = '0b1c2d3e-0000-4000-8000-000000000001';
const OTHER = '0b1c2d3e-0000-4000-8000-000000000002';

/** Sends a datagram, and prints why it could not. */
const SEND = `
const socket = require('node:dgram').createSocket('udp4').on('error', () => {});
socket.connect(53, '241.0.0.5', () => socket.send('?', (error) => (console.log(error?.code), socket.close())));
`;

describeWhere(
  'packet filters',
  canFilter,
  'root, nftables and iproute2',
)('capture', () => {
  let namespace: NetworkNamespace;
  /** Another machine, at 10.7.1.2; this one is 10.7.1.1 there. */
  let peer: NetworkNamespace;
  let folder: string;
  const network = (instance = AGENT): MachineNetwork => new MachineNetwork({ folder, instance, tools: namespace });
  const dial = (...addresses: readonly string[]): Promise<unknown> => dialFrom(namespace, ...addresses);

  beforeAll(async () => {
    [namespace, peer] = [await NetworkNamespace.create(), await NetworkNamespace.create()];
    await namespace.connect(peer, '10.7.1.1/24', '10.7.1.2/24');
    // A host with an address, other routes, and rules of its own.
    for (const line of ['addr add 10.7.0.1/32 dev lo', 'route add 198.51.100.0/24 dev lo'])
      await namespace.run('ip', line.split(' '));
    await namespace.run('nft', ['-f', '-'], 'table inet other { chain c { tcp dport 1 drop; }; }\n');
    await serveIn(
      namespace,
      '127.0.0.1,15001,proxy',
      '::1,15001,proxy',
      '0.0.0.0,2200,process',
      '10.7.0.1,8080,inbound',
      '0.0.0.0,6379,redis',
      '127.0.0.1,8080,loopback',
    );
  });
  afterAll(async () => {
    await namespace.close();
    await peer.close();
  });
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'causeway-capture-'))));
  afterEach(async () => {
    await network().remove();
    rmSync(folder, { recursive: true });
  });

  it('leads all connections to the ranges to the proxy, and nothing else', async () => {
    await network().apply(REDIRECT);
    expect(await dial('241.0.0.5,80', '243.1.2.3,6379', 'fd00:fd::5,80', '10.7.0.1,8080', '127.0.0.1,2200')).toEqual([
      'proxy to 127.0.0.1',
      'proxy to 127.0.0.1',
      'proxy to ::1',
      'inbound to 10.7.0.1',
      'process to 127.0.0.1',
    ]);
  });

  it('refuses at once where the proxy does not listen, and what is not TCP', async () => {
    await network().apply({ capture: { type: 'redirect', ranges: RANGES, port: 15_002 } });
    expect(await dial('241.0.0.5,2200', 'fd00:fd::5,80')).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
    expect((await namespace.execute([process.execPath, '-e', SEND])).stdout.trim()).toBe('EPERM');
    await network().apply({ capture: { type: 'translate', ranges: RANGES, sources: ['10.7.0.1'] } });
    expect(await dial('241.0.0.5,2200', 'fd00:fd::5,2200')).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
  });

  it('makes the ranges local for a proxy that listens at each address; processes at all addresses do not answer', async () => {
    const one = network();
    await one.apply(LISTEN);
    await serveIn(namespace, '241.0.0.9,8443,here');
    await one.refuseAbsent([
      { address: '241.0.0.9', port: 2_200 },
      { address: '241.0.0.10', port: 80 },
      { address: 'fd00:fd::5', port: 2_200 },
    ]);
    expect(await dial('241.0.0.9,8443', '241.0.0.9,2200', '241.0.0.10,80', 'fd00:fd::5,2200')).toEqual([
      'here to 241.0.0.9',
      ...new Array<string>(3).fill('ECONNREFUSED'),
    ]);
    // No packet of another host reaches them.
    await peer.run('ip', ['route', 'add', '241.0.0.0/8', 'via', '10.7.1.1']);
    expect(await dialFrom(peer, '241.0.0.9,8443')).toEqual(['no answer']);
  });

  it('reports an address that is dialled where nothing listens; the next attempt finds who listens meanwhile', async () => {
    const ending = new AbortController();
    const noted: string[] = [];
    const one: MachineNetwork = new MachineNetwork({
      folder,
      instance: AGENT,
      tools: namespace,
      onUnboundAddress: (at) => {
        noted.push(`${at.address},${at.port}`);
        if (at.port === 81) void serveIn(namespace, `${at.address},81,late`);
        else void one.refuseAbsent([at]);
      },
    });
    await one.apply(LISTEN);
    const watching = one.watch(systemClock, silentLogger, () => undefined, ending.signal);
    await until('the report of an address', async () => {
      await dial('241.0.0.11,80', 'fd00:fd::6,2200');
      return noted.length >= 2;
    });
    expect([...new Set(noted)].sort()).toEqual(['241.0.0.11,80', 'fd00:fd::6,2200']);
    expect(await dial('241.0.0.11,81', '241.0.0.11,80')).toEqual(['late to 241.0.0.11', 'ECONNREFUSED']);
    ending.abort();
    await watching;
  });

  it.each<[string, NetworkPlan]>([
    ['redirect', REDIRECT],
    ['listen', LISTEN],
    ['translate', { capture: { type: 'translate', ranges: RANGES, sources: ['10.7.0.1'] } }],
    ['guard', { guard: { ports: [6379], open: [{ address: '10.7.0.1', port: 6379 }], users: [0] } }],
  ])('leaves rules and routes as they were: %s', async (_, plan) => {
    const before = await namespace.state();
    const first = network();
    await first.apply(plan);
    const during = await namespace.state();
    expect(during).not.toBe(before);
    // The first is killed: the next one of the same folder finds its rules.
    const second = network();
    await second.remove();
    expect(await namespace.state()).toBe(before);
    await second.apply(plan);
    expect(await namespace.state()).toBe(during);
    await second.apply({});
    expect(await namespace.state()).toBe(before);
    await second.apply(plan);
    await second.remove();
    await second.remove();
    expect(await namespace.state()).toBe(before);
  });

  it('changes from one plan to another, and does nothing for the same one', async () => {
    const one = network();
    await one.apply(REDIRECT);
    const redirected = await namespace.state();
    await one.apply(LISTEN);
    expect(await dial('241.0.0.9,8443')).toEqual(['here to 241.0.0.9']);
    await one.apply(REDIRECT);
    expect(await namespace.state()).toBe(redirected);
  });

  it('takes its routes back where somebody has flushed its table', async () => {
    const before = await namespace.state();
    const one = network();
    await one.apply(REDIRECT);
    await namespace.run('nft', ['delete', 'table', 'inet', 'causeway']);
    expect(await namespace.state()).not.toBe(before);
    await one.remove();
    expect(await namespace.state()).toBe(before);
  });

  it('begins with what one that was killed has left, whatever its plan was', async () => {
    const before = await namespace.state();
    await network().apply(LISTEN);
    await network().apply(REDIRECT);
    expect(await dial('241.0.0.5,80')).toEqual(['proxy to 127.0.0.1']);
    await network().apply({});
    expect(await namespace.state()).toBe(before);
  });

  it('leaves the rules of another agent alone, and names it', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'causeway-capture-'));
    const other = new MachineNetwork({ folder: elsewhere, instance: OTHER, tools: namespace });
    await other.apply(REDIRECT);
    const theirs = await namespace.state();
    await expect(network().apply(LISTEN)).rejects.toThrow(`another agent of this machine (${OTHER})`);
    await network().remove();
    expect(await namespace.state()).toBe(theirs);
    await other.remove();
    rmSync(elsewhere, { recursive: true });
  });

  it('takes everything back where a route of somebody else is in its way', async () => {
    await namespace.run('ip', ['route', 'add', '243.0.0.0/8', 'dev', 'lo']);
    const before = await namespace.state();
    await expect(network().apply(REDIRECT)).rejects.toThrow(
      'there is a route already where the agent needs one: route add 243.0.0.0/8',
    );
    expect(await namespace.state()).toBe(before);
    await namespace.run('ip', ['route', 'del', '243.0.0.0/8', 'dev', 'lo']);
  });

  it('lets only the proxy reach a guarded port', async () => {
    const self = process.getuid?.() ?? 0;
    const guard = { ports: [6379, 8080], open: [{ address: '10.7.0.1', port: 8080 }] };
    const all = ['127.0.0.1,6379', '10.7.0.1,6379', '10.7.0.1,8080', '127.0.0.1,8080', '127.0.0.1,2200'];
    const open = ['redis to 10.7.1.1', 'process to 10.7.1.1'];
    expect(await dialFrom(peer, '10.7.1.1,6379', '10.7.1.1,2200')).toEqual(open);
    await network().apply({ guard: { ...guard, users: [self] } });
    expect(await dialFrom(peer, '10.7.1.1,6379', '10.7.1.1,2200')).toEqual(['ECONNREFUSED', open[1]]);
    expect(await dial(...all)).toEqual([
      'redis to 127.0.0.1',
      'redis to 10.7.0.1',
      'inbound to 10.7.0.1',
      'loopback to 127.0.0.1',
      'process to 127.0.0.1',
    ]);
    await network().apply({ guard: { ...guard, users: [self + 1] } });
    expect(await dial(...all)).toEqual([
      'ECONNREFUSED',
      'ECONNREFUSED',
      'inbound to 10.7.0.1',
      'ECONNREFUSED',
      'process to 127.0.0.1',
    ]);
  });
});
