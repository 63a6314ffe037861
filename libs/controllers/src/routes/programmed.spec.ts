import type { KnownProxy } from '../proxies/known-proxies';
import { idOf } from '../../../../test/support/loop-harness';
import type { AckCount, ApplyProgress } from '../progress/apply-progress';
import { ProxyProgress } from '../progress/proxy-progress';
import { NONE_UNSUPPORTED } from '../progress/unsupported-proxies';
import { programmedCondition } from './programmed';
import { routeFeatures } from './route-requirement';

const proxy = (name: string, more: Partial<KnownProxy['facts']> = {}, connected = true, revision = 10): KnownProxy => ({
  proxy: `default/${name}`,
  connected,
  instance: 'a',
  revision,
  lastSeen: 0,
  facts: {
    kind: 'dataplane',
    owner: idOf('Dataplane', name),
    node: name,
    address: '',
    userAgent: 'envoy 1.40.0',
    form: 'delta',
    since: 0,
    streams: 1,
    types: [],
    isSettled: true,
    rejected: [],
    refused: [],
    ...more,
  },
});

/** Returns the condition of an HTTPRoute that came into force at revision 10. */
function said(
  proxies: readonly KnownProxy[],
  namespace?: string,
  kind: 'HTTPRoute' | 'TCPRoute' = 'HTTPRoute',
): string {
  const progress = new ProxyProgress({ isLoaded: true, storeNow: 1, all: () => proxies });
  const features = routeFeatures(kind);
  if (!features) throw new Error('no kind of routes');
  const found = progress.of({ selection: { mesh: 'default', namespace }, features }, 10);
  const { status, reason, message } = programmedCondition(found, 3);
  return `${status}/${reason} ${message}`;
}

const shop = { owner: idOf('Dataplane', 'far', { namespace: 'shop' }) };

describe('Programmed of a route', () => {
  it.each<[string, string, string]>([
    ['nobody is connected', said([proxy('a', {}, false)]), 'Unknown/NoProxies applied by 0 of 0 proxies'],
    [
      'all have applied it',
      said([proxy('a'), proxy('b', { applied: 10 })]),
      'True/Programmed applied by 2 of 2 proxies',
    ],
    [
      'one lags, one is not known yet',
      said([proxy('a', { applied: 9 }), proxy('b', { isSettled: false }), proxy('c'), proxy('d', {}, true, 11)]),
      'False/Pending applied by 2 of 4 proxies; waiting for default/b, default/a',
    ],
    [
      'the replica of a proxy lags',
      said([proxy('a', {}, true, 9)]),
      'False/Pending applied by 0 of 1 proxies; waiting for default/a',
    ],
    [
      'ingresses do not count',
      said([proxy('a'), proxy('in', { kind: 'ingress' })]),
      'True/Programmed applied by 1 of 1 proxies',
    ],
    [
      'another mesh does not count',
      said([proxy('a', { owner: idOf('Dataplane', 'a', { mesh: 'other' }) })]),
      'Unknown/NoProxies applied by 0 of 0 proxies',
    ],
    [
      'T002-31: a consumer route is for its own namespace',
      said([proxy('a', { applied: 1 }), proxy('far', shop)], 'shop'),
      'True/Programmed applied by 1 of 1 proxies',
    ],
    [
      'a machine cannot apply the kind',
      said([proxy('a'), proxy('b', { userAgent: 'causeway-agent 0.1.0+builtin' })]),
      'False/NotSupported applied by 1 of 1 proxies; default/b (builtin) cannot apply it',
    ],
    [
      'an Envoy passes on everything as bytes',
      said([proxy('a'), proxy('b', { userAgent: 'envoy 1.39.0', bytesOnly: 'before 1.40, capture redirect' })]),
      'False/NotSupported applied by 1 of 1 proxies; default/b (Envoy, before 1.40, capture redirect) cannot apply it',
    ],
    [
      'the builtin plane obeys TCPRoute, the agent with an Envoy obeys all',
      said(
        [
          proxy('a', { userAgent: 'causeway-agent 0.1.0+envoy' }),
          proxy('b', { userAgent: 'causeway-agent 0.1.0+builtin' }),
        ],
        undefined,
        'TCPRoute',
      ),
      'True/Programmed applied by 2 of 2 proxies',
    ],
    [
      'gRPC does not know TCPRoute',
      said([proxy('a', { userAgent: 'grpc-node 1.14' })], undefined, 'TCPRoute'),
      'False/NotSupported applied by 0 of 0 proxies; default/a (gRPC) cannot apply it',
    ],
  ])('where %s', (_, found, wanted) => expect(found).toBe(wanted));

  it('of a route of the global counts zones, and is True only when all have applied it', () => {
    const count = <Waiting>(acked: number, total: number, ...waiting: Waiting[]): AckCount<Waiting> => ({
      acked,
      total,
      waiting,
    });
    const text = (progress: Omit<ApplyProgress, 'unsupported'>): string => {
      const { status, message } = programmedCondition({ ...progress, unsupported: NONE_UNSUPPORTED }, 1);
      return `${status} ${message}`;
    };
    expect(text({ proxies: count(3, 4, { zone: 'east', proxy: 'default/a' }), zones: count(1, 2, 'east') })).toBe(
      'False applied by 3 of 4 proxies, 1 of 2 zones; waiting for east: default/a; waiting for east',
    );
    expect(text({ proxies: count(4, 4), zones: count(1, 2, 'west') })).toMatch(/^False/);
    expect(text({ proxies: count(4, 4), zones: count(2, 2) })).toBe('True applied by 4 of 4 proxies, 2 of 2 zones');
    expect(text({ proxies: count(0, 0), zones: count(2, 2) })).toMatch(/^Unknown/);
    expect(text({ proxies: count(0, 0), zones: count(2, 2), isPartial: true })).toBe('True applied by 2 of 2 zones');
  });
});
