import { RESOURCE_TYPES } from '@causeway/xds-server';
import { observeProxy, type ObservedStream } from './proxy-facts';

/** A stream whose secrets have these versions. */
function stream(kind: 'ZoneEgress' | 'Dataplane', versions: Readonly<Record<string, string>>): ObservedStream {
  const counts = { subscribed: 2, held: 2, ackedRevision: 1, appliedRevision: 1, isAtRest: true, rejected: [] };
  const responses = { sent: 1, acked: 1, rejected: 0 };
  const types = [{ type: RESOURCE_TYPES.secret, isWildcard: false, responses, versions, ...counts }];
  const owner = { kind, mesh: kind === 'Dataplane' ? 'default' : '', zone: 'west', namespace: '', name: 'one' };
  return { id: '/one', owner, node: '.one', address: '', userAgent: '', form: 'delta', since: 0, types, refused: [] };
}

/** Version `ab` holds the authorities `a` and `b`; capitals are of no trust that was served lately. */
const frame = {
  revision: 1,
  shift: 0,
  findAuthorities: (version: string) => (/^[a-z]+$/.test(version) ? [...version] : undefined),
};
const facts = (...streams: readonly [ObservedStream, ...ObservedStream[]]) => {
  const { authorities, authoritiesIn } = observeProxy(streams, frame).facts;
  return { ...(authorities && { authorities }), ...(authoritiesIn && { authoritiesIn }) };
};

describe('the authorities that a proxy has accepted', () => {
  it.each<[string, ReturnType<typeof facts>, ReturnType<typeof facts>]>([
    ['those of its trust', facts(stream('Dataplane', { identity: 'A', trust: 'ab' })), { authorities: ['a', 'b'] }],
    [
      'those that all its streams hold',
      facts(stream('Dataplane', { trust: 'ab' }), stream('Dataplane', { trust: 'bc' })),
      { authorities: ['b'] },
    ],
    ['none of a stream without trust', facts(stream('Dataplane', { trust: 'ab' }), stream('Dataplane', {})), {}],
    ['none of a version that is not known', facts(stream('Dataplane', { trust: 'A' })), {}],
    [
      'of an egress those in each mesh',
      facts(stream('ZoneEgress', { 'identity:one': 'A', 'trust:one': 'ab', 'trust:two': 'c', 'trust:three': '' })),
      { authoritiesIn: { one: ['a', 'b'], three: [], two: ['c'] } },
    ],
    [
      'of an egress those that all its streams hold that ask for the mesh',
      facts(stream('ZoneEgress', { 'trust:one': 'ab', 'trust:two': 'c' }), stream('ZoneEgress', { 'trust:one': 'bd' })),
      { authoritiesIn: { one: ['b'], two: ['c'] } },
    ],
    ['of an egress without meshes nothing', facts(stream('ZoneEgress', {})), {}],
  ])('are %s', (_, found, wanted) => expect(found).toEqual(wanted));
});
