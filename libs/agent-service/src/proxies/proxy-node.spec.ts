import { Invalid, type Violation } from '@causeway/resources';
import { readProxyNode } from './proxy-node';

function deep(levels: number): unknown {
  let value: unknown = 'end';
  for (let i = 0; i < levels; i++) value = { in: value };
  return value;
}

const CSR = { 'causeway.io/csr': 'a CSR', 'causeway.io/key-file': '/key.pem' };
const LONG = 'x'.repeat(1_000_000);
const read = (metadata: Record<string, unknown>, node = 'default.web-1', userAgent = 'envoy 1.40.0') =>
  readProxyNode({ node, metadata, userAgent });

function violationsOf(act: () => unknown): readonly Violation[] {
  try {
    act();
  } catch (error) {
    if (error instanceof Invalid) return error.violations;
    throw error;
  }
  return [];
}

describe('what a proxy says of itself', () => {
  it.each<[string, Record<string, unknown>, unknown]>([
    ['nothing', {}, { type: 'dataplane', mesh: 'default', name: 'web-1', key: { type: 'none' } }],
    [
      'ports as texts',
      { 'causeway.io/capture': 'redirect', 'causeway.io/redirect-port': '15002' },
      { capture: { at: { port: 15_002 } } },
    ],
    [
      'that its machine has IPv6',
      { 'causeway.io/capture': 'redirect', 'causeway.io/redirect-ipv6': true },
      { capture: { ipv6: true } },
    ],
    [
      'that it binds what is used',
      { 'causeway.io/capture': 'bind', 'causeway.io/bind-on-demand': 'true' },
      { capture: { type: 'bind', onDemand: true } },
    ],
    ['a key', CSR, { key: { type: 'file', csr: 'a CSR', path: '/key.pem' } }],
    [
      'fields that are not known',
      { [LONG.slice(0, 1_000)]: deep(5_000), '': [], version: deep(5_000) },
      { key: { type: 'none' } },
    ],
    ['a file that is none', { 'causeway.io/authorities-file': 7, systemCaPath: '/ca.pem' }, { type: 'dataplane' }],
    ['a document that is no text', { 'dataplane.resource': { type: 'Dataplane' } }, { type: 'dataplane' }],
  ])('is read: %s', (_, metadata, want) => {
    expect(read(metadata)).toMatchObject(want as object);
  });

  it.each<[string, Record<string, unknown>, readonly string[]]>([
    ['another type of proxy', { 'dataplane.proxyType': 'gateway' }, ['dataplane.proxyType']],
    ['a type that is no text', { 'dataplane.proxyType': ['dataplane'] }, ['dataplane.proxyType']],
    ['capture that is none', { 'causeway.io/capture': 'everything' }, ['causeway.io/capture']],
    ['capture of another type', { 'causeway.io/capture': { type: 'bind' } }, ['causeway.io/capture']],
    ['huge and deep capture', { 'causeway.io/capture': deep(1_000) }, ['causeway.io/capture']],
    [
      'ports that are none',
      { 'causeway.io/capture': 'redirect', 'causeway.io/redirect-port': 0, 'causeway.io/reentry-port': '65536' },
      ['causeway.io/redirect-port', 'causeway.io/reentry-port'],
    ],
    [
      'ports of other types',
      { 'causeway.io/capture': 'redirect', 'causeway.io/redirect-port': 1.5, 'causeway.io/reentry-port': [15_011] },
      ['causeway.io/redirect-port', 'causeway.io/reentry-port'],
    ],
    [
      'one port twice',
      { 'causeway.io/capture': 'redirect', 'causeway.io/redirect-port': 15_011 },
      ['causeway.io/reentry-port'],
    ],
    [
      'a flag that is none',
      { 'causeway.io/capture': 'redirect', 'causeway.io/redirect-ipv6': 'yes' },
      ['causeway.io/redirect-ipv6'],
    ],
    ['a CSR without a key', { 'causeway.io/csr': 'a CSR' }, ['causeway.io/key-file']],
    ['a key without a CSR', { 'causeway.io/key-file': '/key.pem' }, ['causeway.io/csr']],
    [
      'a huge CSR, a relative path',
      { 'causeway.io/csr': LONG, 'causeway.io/key-file': 'key.pem' },
      ['causeway.io/csr', 'causeway.io/key-file'],
    ],
    ['NUL in a path', { ...CSR, 'causeway.io/key-file': '/key\0.pem' }, ['causeway.io/key-file']],
    ['a huge path', { ...CSR, 'causeway.io/key-file': `/${LONG}` }, ['causeway.io/key-file']],
    ['a namespace that the id does not end with', { 'causeway.io/namespace': 'shop' }, ['causeway.io/namespace']],
    ['no namespace', { 'causeway.io/namespace': '' }, ['causeway.io/namespace']],
    ['a namespace of another type', { 'causeway.io/namespace': ['shop'] }, ['causeway.io/namespace']],
    [
      'every fault at once',
      { 'causeway.io/capture': 7, 'causeway.io/csr': 7, 'causeway.io/key-file': 7 },
      ['causeway.io/capture', 'causeway.io/csr', 'causeway.io/key-file'],
    ],
  ])('is refused by field: %s', (_, metadata, fields) => {
    const found = violationsOf(() => read(metadata));
    expect(found.map(({ field }) => field)).toEqual(fields.map((field) => `node.metadata[${JSON.stringify(field)}]`));
    for (const { reason } of found) {
      expect(reason).toMatch(/; got /);
      expect(reason.length).toBeLessThan(400);
    }
  });

  it.each(['', '.', 'web-1', 'default.', '.web-1', `default.${LONG}`])(
    'a Dataplane needs mesh and name: %.20s',
    (node) => {
      expect(violationsOf(() => read({}, node))).toMatchObject([{ field: 'node.id' }]);
    },
  );

  it.each(['', '.', `.${LONG}`])('a zone proxy needs a name: %.20s', (node) => {
    expect(violationsOf(() => read({ 'dataplane.proxyType': 'ingress' }, node))).toMatchObject([{ field: 'node.id' }]);
  });

  it('a Dataplane of a namespace is that one alone where its agent says so', () => {
    const said = read({ 'causeway.io/namespace': 'shop' }, 'default.web-1.shop');
    expect(said).toMatchObject({ mesh: 'default', name: 'web-1.shop', namespace: 'shop' });
    expect(read({}, 'default.web-1.shop')).not.toHaveProperty('namespace');
  });

  it('names of prototypes are names like others', () => {
    const metadata = JSON.parse('{"__proto__": {"causeway.io/capture": "bind"}, "constructor": 1}') as Record<
      string,
      unknown
    >;
    expect(read(metadata)).toEqual({ type: 'dataplane', mesh: 'default', name: 'web-1', key: { type: 'none' } });
    expect(read({}, '__proto__.constructor')).toMatchObject({ mesh: '__proto__', name: 'constructor' });
    expect(({} as Record<string, unknown>)['causeway.io/capture']).toBeUndefined();
  });
});
