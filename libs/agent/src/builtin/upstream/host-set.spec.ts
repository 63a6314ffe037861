import fc from 'fast-check';
import type { DecodedCluster } from '../decode/clusters';
import type { EndpointLocality } from '../decode/endpoints';
import { Host } from './host';
import { HostSet } from './host-set';
import { pickIndex, computePriorityLoad } from './priority-load';

const PLAN: DecodedCluster = {
  name: 'c',
  endpoints: { name: 'c' },
  isResolved: false,
  connectTimeout: 1,
  maxConnections: 1,
  transports: [{ match: {}, transport: 'plaintext' }],
  panicPercent: 0,
  isWeighted: false,
  ejection: undefined,
  closesOnFailure: false,
  http: undefined,
};

/** A locality whose endpoints are healthy by this string: `+` healthy, `-` not. */
function locality(priority: number, health: string, { weight = 1, zone = '' } = {}): EndpointLocality {
  const endpoints = [...health].map((each, i) => {
    const address = `10.${priority}.${zone.length}.${i}`;
    return { address, port: 1, isHealthy: each === '+', match: {} };
  });
  return { zone, priority, weight, endpoints };
}

function hostSet(
  plan: Partial<DecodedCluster>,
  localities: readonly EndpointLocality[],
  random = Math.random,
): HostSet {
  const hosts = new HostSet(() => 0, random);
  hosts.update({ ...PLAN, ...plan }, localities, (address) => [address]);
  return hosts;
}

/** Returns how often each priority is chosen, in percent. */
function shares(hosts: HostSet): readonly number[] {
  const counts = [0, 0, 0];
  for (let i = 0; i < 3_000; i++) {
    const priority = Number(hosts.pick(new Set())?.assignment.address.split('.')[1] ?? NaN);
    counts[priority] = (counts[priority] ?? 0) + 1;
  }
  return counts.map((count) => Math.round(count / 30));
}

describe('how much traffic a priority gets', () => {
  it.each<[string, readonly [number, number][], number, readonly number[]]>([
    [
      'the first all of it, while it has enough',
      [
        [10, 10],
        [10, 10],
      ],
      0,
      [1, 0],
    ],
    [
      'the first all of it with 5 of 7, by the overprovisioning of 1.4',
      [
        [7, 5],
        [7, 7],
      ],
      0,
      [1, 0],
    ],
    [
      'the second what the first cannot take',
      [
        [10, 5],
        [10, 10],
      ],
      0,
      [0.7, 0.3],
    ],
    [
      'the third what both cannot take',
      [
        [10, 5],
        [10, 1],
        [10, 10],
      ],
      0,
      [0.7, 0.14, 0.16],
    ],
    [
      'all by what they can, where together they cannot',
      [
        [10, 1],
        [10, 1],
      ],
      0,
      [0.5, 0.5],
    ],
    [
      'nobody, where none can serve and none may panic',
      [
        [10, 0],
        [10, 0],
      ],
      0,
      [0, 0],
    ],
    [
      'those in panic by their hosts, where none can serve',
      [
        [10, 0],
        [30, 0],
      ],
      50,
      [0.25, 0.75],
    ],
    [
      'nothing for a priority without hosts',
      [
        [0, 0],
        [10, 10],
      ],
      0,
      [0, 1],
    ],
  ])('%s', (_, counts, panicPercent, want) => {
    const load = computePriorityLoad(
      counts.map(([total, healthy]) => ({ total, healthy })),
      panicPercent,
    );
    expect(load.map(({ share }) => Math.round(share * 1_000) / 1_000)).toEqual(want);
  });

  it('shares are never negative, add up to 1 or 0, and nothing goes to who has nobody', () => {
    const count = fc
      .tuple(fc.nat({ max: 20 }), fc.nat({ max: 20 }))
      .map(([a, b]) => ({ total: Math.max(a, b), healthy: Math.min(a, b) }));
    fc.assert(
      fc.property(fc.array(count, { maxLength: 6 }), fc.nat({ max: 100 }), (counts, panic) => {
        const load = computePriorityLoad(counts, panic);
        const sum = load.reduce((all, { share }) => all + share, 0);
        expect([0, 1]).toContain(Math.round(sum * 1e9) / 1e9);
        for (const [i, { share, panics }] of load.entries()) {
          expect(share).toBeGreaterThanOrEqual(0);
          if (counts[i]?.healthy === 0 && !panics) expect(share).toBe(0);
        }
      }),
    );
  });

  it('a choice falls on an index with a share', () => {
    const share = fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 100, noNaN: true }));
    fc.assert(
      fc.property(fc.array(share, { maxLength: 9 }), fc.double({ min: 0, max: 1, noNaN: true }), (all, random) => {
        const chosen = pickIndex(all, random);
        if (all.some((each) => each > 0)) expect(all[chosen]).toBeGreaterThan(0);
        else expect(chosen).toBe(-1);
      }),
    );
  });
});

describe('the hosts of a cluster', () => {
  it('the next priority takes over when the first is not healthy', () => {
    expect(shares(hostSet({}, [locality(0, '++'), locality(1, '+')]))).toEqual([100, 0, 0]);
    expect(shares(hostSet({}, [locality(0, '--'), locality(1, '+')]))).toEqual([0, 100, 0]);
    expect(hostSet({}, [locality(0, '--'), locality(1, '-')]).pick(new Set())).toBeUndefined();
    const [first = 0] = shares(hostSet({}, [locality(0, '+++-------'), locality(1, '+')]));
    expect(first).toBeGreaterThan(35);
    expect(first).toBeLessThan(50);
  });

  it('localities share by their weights where they are weighted, and by their hosts where not', () => {
    const two = [locality(0, '+', { weight: 9, zone: 'a' }), locality(0, '+++', { weight: 1, zone: 'bb' })];
    const inFirst = (hosts: HostSet): number => {
      let found = 0;
      for (let i = 0; i < 3_000; i++) if (hosts.pick(new Set())?.assignment.zone === 'a') found += 1;
      return found / 30;
    };
    expect(Math.abs(inFirst(hostSet({ isWeighted: true }, two)) - 90)).toBeLessThan(5);
    expect(inFirst(hostSet({}, two))).toBeLessThan(50);
  });

  it('of two hosts the one with fewer connections is chosen', () => {
    const hosts = hostSet({}, [locality(0, '++')]);
    const [busy, idle] = [...hosts.all];
    if (busy) busy.connecting = 5;
    const chosen = Array.from({ length: 400 }, () => hosts.pick(new Set())).filter((host) => host === idle).length;
    expect(chosen).toBeGreaterThan(250); // three of four, unless both draws are the busy one
  });

  it('what was tried is chosen again only where nothing else may serve, in any priority that serves', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[+-]{1,4}$/), { minLength: 1, maxLength: 3 }), (health) => {
        const hosts = hostSet(
          {},
          health.map((each, priority) => locality(priority, each)),
        );
        const tried = new Set<Host>();
        const first = hosts.pick(tried);
        if (!first) return expect(health.join('')).not.toContain('+');
        tried.add(first);
        for (let i = 0; i < 20; i++) {
          const next = hosts.pick(tried);
          expect(next?.isHealthy).toBe(true);
          if (next) tried.add(next);
        }
        const reachable = computePriorityLoad(
          health.map((each) => ({ total: each.length, healthy: each.replaceAll('-', '').length })),
          0,
        );
        const serving = health
          .filter((_, i) => (reachable[i]?.share ?? 0) > 0)
          .join('')
          .replaceAll('-', '').length;
        expect(tried.size).toBe(serving);
      }),
    );
  });

  it('a host that stays keeps what is known of it; one whose transport changes is another', () => {
    const hosts = hostSet({}, [locality(0, '++')]);
    const before = [...hosts.all];
    hosts.update(PLAN, [locality(0, '-+')], (address) => [address]);
    expect([...hosts.all].map((host) => before.includes(host))).toEqual([true, true]);
    const tls = { match: {}, transport: 'plaintext' as const };
    hosts.update({ ...PLAN, transports: [tls] }, [locality(0, '++')], (address) => [address, `${address}0`]);
    expect([...hosts.all].map((host) => before.includes(host))).toEqual([true, false, true, false]);
  });
});

describe('a host that cannot be reached', () => {
  const rule = { failures: 2, interval: 1_000, base: 2_000, maxDuration: 10_000, maxPercent: 100 };
  it('is left out after the second failure, longer each time, and shorter again after a quiet while', () => {
    const host = new Host({ address: '10.0.0.1', port: 1, zone: '', transport: 'plaintext' });
    expect([host.failed(rule), host.failed(rule)]).toEqual([false, true]);
    expect(host.eject(rule, 0)).toBe(2_000);
    expect([host.isEjected(1_999), host.isEjected(2_000)]).toEqual([true, false]);
    expect([2_000, 6_000, 12_000, 20_000, 30_000].map((now) => host.eject(rule, now))).toEqual([
      4_000, 6_000, 8_000, 10_000, 10_000,
    ]);
    expect(host.eject(rule, 1e6)).toBe(2_000);
  });

  it('a success between two failures counts', () => {
    const host = new Host({ address: '10.0.0.1', port: 1, zone: '', transport: 'plaintext' });
    expect(host.failed(rule)).toBe(false);
    host.succeeded();
    expect(host.failed(rule)).toBe(false);
  });
});
