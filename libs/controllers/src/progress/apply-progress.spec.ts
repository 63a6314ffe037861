import { RouteInsight } from '@causeway/kinds';
import { identityKey, type JsonObject, type Resource } from '@causeway/resources';
import type { ProxyFacts } from '@causeway/store';
import { idOf, storedResource } from '../../../../test/support/loop-harness';
import type { KnownProxy } from '../proxies/known-proxies';
import type { ApplyProgress, ApplyRequirement } from './apply-progress';
import { GlobalProgress } from './global-progress';
import { formatAllUnsupported } from './progress-text';
import { routeInsightId } from './progress-reporter';
import type { ZoneDataplaneMode } from './dataplane-modes';
import { UnsupportedWatch } from './unsupported-watch';
import { ProxyProgress } from './proxy-progress';

const USER_AGENTS: Readonly<Record<string, string>> = {
  grpc: 'grpc-node 1.14',
  builtin: 'causeway-agent 0.1.0+builtin',
  direct: 'causeway-agent 0.1.0+direct',
  envoy: 'envoy 1.40.0',
};

/** A connected proxy of a mode. */
function proxy(name: string, mode = 'envoy', more: Partial<ProxyFacts> = {}): KnownProxy {
  return {
    proxy: `default/${name}`,
    connected: true,
    instance: 'a',
    revision: 10,
    lastSeen: 0,
    facts: {
      kind: 'dataplane',
      owner: idOf('Dataplane', name),
      node: name,
      address: '',
      userAgent: USER_AGENTS[mode] ?? mode,
      form: 'delta',
      since: 0,
      streams: 1,
      types: [],
      isSettled: true,
      rejected: [],
      refused: [],
      ...more,
    },
  };
}

/** A resource that only proxies of some modes support. */
const supportedBy = (...modes: readonly ZoneDataplaneMode[]): ApplyRequirement => ({
  selection: { mesh: 'default' },
  features: { key: modes.join(), isSupported: (mode) => modes.includes(mode) },
});

class Proxies {
  storeNow = 1;
  readonly isLoaded = true;
  private known: readonly KnownProxy[] = [];

  all(): readonly KnownProxy[] {
    return this.known;
  }

  set(...known: readonly KnownProxy[]): this {
    this.known = known;
    this.storeNow += 1;
    return this;
  }
}

const countsOf = ({ unsupported: { counts } }: ApplyProgress): readonly string[] =>
  counts.map(({ mode, isTcpPassthrough, count }) => `${count} ${mode}${isTcpPassthrough ? ' TCP' : ''}`);

describe('the progress of a zone', () => {
  it('counts all proxies by their mode, and names the first three', () => {
    const proxies = new Proxies().set(
      ...['c', 'a', 'b'].map((name) => proxy(name, 'builtin')),
      proxy('d', 'grpc'),
      proxy('e', 'envoy', { bytesOnly: 'before 1.40' }),
      proxy('f', 'direct'),
    );
    const progress = new ProxyProgress(proxies).of(supportedBy('direct'), 10);
    expect(countsOf(progress)).toEqual(['1 grpc', '3 builtin', '1 envoy TCP']);
    expect(progress.proxies).toEqual({ acked: 1, total: 1, waiting: [] });
    expect(formatAllUnsupported(progress.unsupported)).toBe(
      'default/a (builtin), default/b (builtin), default/c (builtin) and 2 more',
    );
  });

  it('counts a missing egress beside the proxies', () => {
    const { features } = supportedBy('envoy');
    const requirement = { selection: { mesh: 'default', includesEgresses: true }, features };
    const progress = new ProxyProgress(new Proxies().set(proxy('a'))).of(requirement, 10);
    expect(countsOf(progress)).toEqual(['1 noEgress']);
    expect(formatAllUnsupported(progress.unsupported)).toBe('MeshExternalServices (no zone egress is connected)');
  });

  it('notices another mode of a proxy that no message names', () => {
    const proxies = new Proxies();
    const watch = new UnsupportedWatch(new ProxyProgress(proxies));
    const three = ['a', 'b', 'c'].map((name) => proxy(name, 'builtin'));
    proxies.set(...three, proxy('d', 'builtin'));
    watch.watch({ id: idOf('HTTPRoute', 'route') }, supportedBy('direct'));
    expect(watch.takeChanged()).toEqual([]);
    proxies.set(...three, proxy('d', 'grpc'));
    expect(watch.takeChanged()).toHaveLength(1);
    expect(watch.takeChanged()).toEqual([]);
  });
});

describe('the progress on the global', () => {
  const id = { ...idOf('TimeoutPolicy', 'policy'), zone: '' };
  const resource = storedResource(id, {});
  const key = identityKey(id);

  /** Returns the progress that the global knows by the reports of zones. */
  function reported(zones: Readonly<Record<string, JsonObject>>): ApplyProgress {
    const reports = new Map<string, Resource>(
      Object.entries(zones).map(([zone, spec]) => [zone, storedResource(routeInsightId(zone), { spec })]),
    );
    const progress = new GlobalProgress({
      index: { get: ({ zone }) => reports.get(zone), getVersion: () => 1 },
      zones: () => ({ connected: Object.keys(zones), kuma: [] }),
    });
    const found = progress.of({ resource });
    if (!found) throw new Error('nothing is known');
    return found;
  }

  const route = (more: JsonObject): JsonObject => ({
    routes: [{ route: key, generation: resource.generation, proxies: { acked: 2, total: 2 }, ...more }],
  });
  const names = (...waitingFor: readonly string[]): JsonObject => ({ total: 4, waitingFor: [...waitingFor] });
  const three = names('default/a (builtin)', 'default/b (builtin)', 'default/c (builtin)');

  it('adds up the counts of zones, and names the zone of each proxy', () => {
    const progress = reported({
      east: route({
        unable: three,
        unsupported: [
          { mode: 'builtin', count: 3 },
          { mode: 'grpc', count: 1 },
        ],
      }),
      west: route({
        unable: { total: 1, waitingFor: ['default/w (gRPC)'] },
        unsupported: [{ mode: 'grpc', count: 1 }],
      }),
    });
    expect(countsOf(progress)).toEqual(['2 grpc', '3 builtin']);
    expect(progress.proxies).toMatchObject({ acked: 4, total: 4 });
    expect(formatAllUnsupported(progress.unsupported)).toBe(
      'east: default/a (builtin), east: default/b (builtin), east: default/c (builtin) and 2 more',
    );
  });

  it('takes the proxies of an older zone for ones of an unknown mode, whatever their names say', () => {
    const progress = reported({
      east: route({ unable: three }),
      west: route({ unable: { total: 1, waitingFor: ['d (gRPC)'] }, unsupported: [{ mode: 'grpc', count: 1 }] }),
    });
    expect(countsOf(progress)).toEqual(['1 grpc', '4 unknown']);
    expect(progress.unsupported.total).toBe(5);
  });

  it('takes the modes of a newer zone for unknown ones', () => {
    const unsupported = [
      { mode: 'quantum', count: 3 },
      { mode: 'envoy', tcpPassthrough: true, count: 1 },
    ];
    expect(countsOf(reported({ east: route({ unable: three, unsupported }) }))).toEqual(['1 envoy TCP', '3 unknown']);
  });

  it.each<[string, JsonObject]>([
    ['no list', { routes: null, applied: null }],
    ['empty items', { routes: [null], applied: [null] }],
    ['no fields', { routes: [{ route: key }] }],
    ['empty fields', route({ unable: null, unsupported: null })],
    ['empty items of fields', route({ unable: { total: 1, waitingFor: [null] }, unsupported: [null] })],
  ])('reads a report with %s', (_, spec) => {
    expect(reported({ east: spec }).zones).toEqual({ acked: 0, total: 1, waiting: ['east'] });
  });

  it('sends fields that an older global leaves aside', () => {
    const older = storedResource(routeInsightId('east'), {
      spec: route({ unable: three, unsupported: [], later: 'field' }),
    });
    expect(RouteInsight.is(older)).toBe(true);
  });
});
