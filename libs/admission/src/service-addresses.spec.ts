import type { JsonObject, Resource } from '@causeway/resources';
import { checkServiceAddresses } from './service-addresses';

const id = { kind: 'Dataplane', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis-1' };
const LEASED = { 'causeway.io/leased-by': 'i-1' };

function write(inbound: JsonObject, { holdsLease = false, labels = {}, stored = {} } = {}): () => void {
  const spec = { networking: { address: '10.0.0.7', inbound: [{ port: 80 }, { port: 6379, ...inbound }] } };
  const row: Resource = {
    id,
    labels: stored,
    spec: {},
    uid: '',
    generation: 1,
    revision: 1,
    creationOrder: 0,
    createdAt: 0,
    modifiedAt: 0,
    freed: [],
    origin: { incarnation: '', revision: 0, committedAt: 0 },
  };
  return () =>
    checkServiceAddresses({ id, labels, spec }, Object.keys(stored).length > 0 ? row : undefined, { holdsLease });
}

describe('the serviceAddress of a Dataplane without an agent', () => {
  it.each<[string, JsonObject]>([
    ['none', {}],
    ['loopback', { serviceAddress: '127.0.0.1' }],
    ['loopback', { serviceAddress: '127.0.0.53', servicePort: 1 }],
    ['loopback of IPv6', { serviceAddress: '::1' }],
    ['its own address', { serviceAddress: '10.0.0.7', servicePort: 1 }],
    ['its own address, mapped', { serviceAddress: '::ffff:10.0.0.7', servicePort: 1 }],
    ['where the inbound listens', { address: '10.0.1.7', serviceAddress: '10.0.1.7', servicePort: 1 }],
  ])('may be %s', (_, inbound) => expect(write(inbound)).not.toThrow());

  it.each<[string, JsonObject]>([
    ['another machine', { serviceAddress: '10.0.0.8' }],
    ['metadata of a cloud', { serviceAddress: '169.254.169.254', servicePort: 80 }],
    ['metadata, mapped', { serviceAddress: '::ffff:169.254.169.254', servicePort: 80 }],
    [
      'an address that the Dataplane claims while it listens elsewhere',
      { address: '10.0.1.7', serviceAddress: '10.0.0.7' },
    ],
    ['any address', { serviceAddress: '0.0.0.0' }],
  ])('is refused where it is %s, whoever writes', (_, inbound) => {
    const refusal = /^spec\.networking\.inbound\[1\]\.serviceAddress: must be a loopback address or .*; got "/;
    for (const holdsLease of [false, true]) expect(write(inbound, { holdsLease })).toThrow(refusal);
    // A label that a user writes has no effect.
    expect(write(inbound, { labels: LEASED })).toThrow(refusal);
  });

  it('is for the agent to check where one holds the lease, or registers the Dataplane', () => {
    expect(write({ serviceAddress: '10.0.0.8' }, { stored: LEASED })).not.toThrow();
    expect(write({ serviceAddress: '10.0.0.8' }, { holdsLease: true, labels: LEASED })).not.toThrow();
  });
});
