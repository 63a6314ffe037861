import fc from 'fast-check';
import { coreKinds } from '@causeway/kinds';
import { FieldPath, type JsonObject, type Kind } from '@causeway/resources';
import { inboundViolation, type InboundResource } from './inbound-validation';

function kindCalled(name: string): Kind {
  const kind = coreKinds.kind(name);
  if (!kind) throw new Error(name);
  return kind;
}

const service = kindCalled('MeshService');
const good: InboundResource = {
  id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis_1.x-y' },
  uid: '8f3c1d1e-0000-4000-8000-000000000001',
  labels: { 'kuma.io/display-name': 'redis', constructor: 'kept' },
  spec: { ports: [{ port: 6379 }] },
  status: { vip: { ip: '241.0.0.1' } },
  generation: 1,
  creationOrder: 0,
  revision: 7,
};
const fault = (change: Partial<InboundResource>, kind = service): string | undefined =>
  inboundViolation(kind, { ...good, ...change });
const named = (part: Partial<InboundResource['id']>): Partial<InboundResource> => ({ id: { ...good.id, ...part } });
const nested = (depth: number): JsonObject =>
  Array.from({ length: depth }).reduce<JsonObject>((inner) => ({ inner }), {});

describe('what sync takes', () => {
  it.each<[string, Partial<InboundResource>]>([
    ['a good resource', {}],
    // Values that Kuma accepts are kept (docs/design.md §5 "Strict at the door, tolerant on the wire").
    ['port 0, -1 and 65536', { spec: { ports: [{ port: 0 }, { port: -1 }, { port: 65_536 }] } }],
    ['a port twice', { spec: { ports: [{ port: 80 }, { port: 80 }] } }],
    ['an unknown protocol', { spec: { ports: [{ port: 80, appProtocol: 'smtp' }] } }],
    ['unknown fields of any type', { spec: { prots: [[[]]], ports: [{ port: 1, x: { y: null } }] } }],
    ['null for what is absent', { spec: { ports: null, selector: { dataplaneTags: null } } }],
    ['a required field that is missing', { spec: { ports: [{}] } }],
    [
      'either type of a target port',
      {
        spec: {
          ports: [
            { port: 1, targetPort: 'x' },
            { port: 2, targetPort: 3 },
          ],
        },
      },
    ],
    ['a label value longer than users may write', { labels: { a: 'x'.repeat(253) } }],
    ['no status', { status: undefined }],
    ['a status of any shape', { status: { a: [1, { b: 'c' }] } }],
  ])('%s', (_, change) => {
    expect(fault(change)).toBeUndefined();
  });
});

describe('what sync refuses, with the field and the rule', () => {
  it.each<[string, Partial<InboundResource>, string]>([
    ['a name *', named({ name: '*' }), "name: must be 1 to 253 of a-z, 0-9, '.', '_', '-'; got \"*\" (wrong-form)"],
    ['a name of two lines', named({ name: 'a\nb' }), 'got "a\\nb" (wrong-form)'],
    ['a name with a slash', named({ name: 'A/b' }), 'got "A/b" (wrong-form)'],
    ['no name', named({ name: '' }), 'name: is required (required)'],
    ['a long name', named({ name: 'x'.repeat(5_000_000) }), '(too-long)'],
    ['an odd mesh', named({ mesh: 'a b' }), 'mesh: '],
    ['no mesh', named({ mesh: '' }), 'mesh: is required'],
    ['an odd zone', named({ zone: 'Ost' }), 'zone: '],
    ['an odd namespace', named({ namespace: '..\u0000' }), 'namespace: '],
    ['a uid with NUL', { uid: 'a\u0000b' }, 'uid: must be 1 to 64'],
    ['no uid', { uid: '' }, 'uid: '],
    ['a long uid', { uid: 'u'.repeat(65) }, 'uid: '],
    ['text for a list', { spec: { ports: 'x' } }, 'spec.ports: must be a list; got "x" (wrong-type)'],
    ['a number for text', { spec: { ports: [{ port: 1, name: 5 }] } }, 'spec.ports[0].name: must be a string; got 5'],
    ['text for a number', { spec: { ports: [{ port: '80' }] } }, 'spec.ports[0].port: must be a number; got "80"'],
    ['a list for an object', { spec: { selector: [] } }, 'spec.selector: must be an object; got a list'],
    ['neither branch', { spec: { ports: [{ port: 1, targetPort: {} }] } }, 'spec.ports[0].targetPort: '],
    ['60,000 ports', { spec: { ports: Array(60_000).fill(1) } }, 'spec.ports: must have at most 1024 items, has 60000'],
    ['a long text', { spec: { identities: [{ value: 'x'.repeat(2_000) }] } }, 'spec.identities[0].value: '],
    [
      '20,000 labels',
      {
        labels: Object.fromEntries(
          Array(20_000)
            .fill(0)
            .map((_, i) => [`l${i}`, '']),
        ),
      },
      'labels: must be at most 128, are 20000 (too-many)',
    ],
    ['a label of 5 MB', { labels: { big: 'x'.repeat(5_000_000) } }, '(too-large)'],
    ['a label value that is too long', { labels: { a: 'x'.repeat(254) } }, 'labels.a: '],
    ['a label key that is too long', { labels: { ['x'.repeat(400)]: 'a' } }, 'has a key longer than 317'],
    ['a label that is no text', { labels: { a: 5 } }, 'labels.a: must be a string (wrong-type)'],
    ['NUL in a label', { labels: { a: 'x\u0000' } }, 'labels.a: must not hold NUL'],
    ['NUL in a key', { labels: { 'a\u0000': 'x' } }, 'labels: has a key that no document may have'],
    ['half a surrogate pair in the spec', { spec: { x: { y: ['\ud800'] } } }, 'spec.x.y[0]: must not hold NUL'],
    ['NUL in the status', { status: { x: '\u0000' } }, 'status.x: must not hold NUL'],
    [
      'a large spec',
      { spec: { x: 'y'.repeat(300_000) } },
      'spec: must with its labels not be larger than 262144 bytes',
    ],
    ['a large status', { status: { x: 'y'.repeat(300_000) } }, 'status: must not be larger than 262144 bytes'],
    ['a deep spec', { spec: nested(65) }, '64 levels deep (too-large)'],
    ['a very deep spec', { spec: nested(100_000) }, '(too-large)'],
    ['a generation that is none', { generation: -1 }, 'generation: must be a whole number from 0; got -1'],
    ['a creation order that is none', { creationOrder: 2 ** 53 }, 'creationOrder: '],
    ['a revision that is none', { revision: Number.NaN }, 'revision: must be a whole number from 0; got NaN'],
  ])('%s', (_, change, reason) => {
    const violation = fault(change);
    expect(violation).toContain(reason);
    expect(violation?.length).toBeLessThan(1_000);
  });

  it('a secret without its value', () => {
    const data = { hunter: 'hunter2' };
    const violation = fault({ spec: { data } }, kindCalled('Secret'));
    expect(violation).toContain('spec.data: must be a string (wrong-type)');
  });
});

test('what a kind takes from users sync takes as well', () => {
  const spec = fc.record({
    ports: fc.array(
      fc.record({ port: fc.nat(70_000), name: fc.option(fc.string({ maxLength: 70 }), { nil: undefined }) }),
      { maxLength: 5 },
    ),
    selector: fc.option(
      fc.dictionary(fc.string(), fc.string()).map((dataplaneTags) => ({ dataplaneTags })),
      {
        nil: undefined,
      },
    ),
  });
  fc.assert(
    fc.property(spec, (value) => {
      const plain: JsonObject = JSON.parse(JSON.stringify(value));
      if (
        service.check(plain, FieldPath.at('spec')).total === 0 &&
        !/\\u0000|\\ud[89a-f]|"__proto__"/.test(JSON.stringify(plain))
      )
        expect(fault({ spec: plain })).toBeUndefined();
    }),
  );
});
