import { coreKinds } from '@causeway/kinds';
import { hashName } from '@causeway/naming/testing';
import { ResourceIndex } from '@causeway/store';
import type { InboundMessage } from '@causeway/sync';
import { withRelayedKinds } from '../relayed-kinds';
import { UNBOUNDED } from '../../wire/bounds';
import { KUMA_DIALECT, type Dialect } from '../../wire/dialect';
import { CAUSEWAY_DIALECT } from '../../../testing/dialects';
import { ResourceEncoder } from '../../wire/resource-encoder';
import { encodeResponse, openResponse } from '../../wire/response';
import type { WireResource } from '../../wire/wire-resource';
import { decodeMessage, type CopyPut } from './decode-message';

const origin = { incarnation: 'life', revision: 7, committedAt: 1 };
const meta = { uid: 'uid-1', zone: 'east', namespace: 'default', generation: 1, creationOrder: 0, origin };

function service(name: string, change: Partial<WireResource> = {}): WireResource {
  const labels = { 'kuma.io/display-name': name, 'kuma.io/zone': 'east' };
  const wire = { kind: 'MeshService', mesh: 'default', name: hashName('default', name, 'east') };
  return { ...wire, labels, spec: { ports: [{ port: 80 }] }, meta, ...change };
}

/** Decodes a message of these resources from zone east on a global. */
function received(resources: readonly WireResource[], dialect: Dialect = CAUSEWAY_DIALECT): InboundMessage<CopyPut> {
  const encoder = new ResourceEncoder({ role: 'zone', zone: 'east', federated: true });
  const encoded = resources.map((resource) => {
    const encoding = encoder.encodeWire(resource, dialect);
    if (!encoding.ok) throw new Error(encoding.reason);
    return encoding.resource;
  });
  const kind = resources[0]?.kind ?? '';
  const bytes = encodeResponse({ kind, nonce: '1', controlPlane: 'east', resources: encoded, removed: [] });
  const steps = decodeMessage(openResponse(bytes, UNBOUNDED), {
    receiver: { role: 'global', from: 'east' },
    findKind: (name) => withRelayedKinds(coreKinds).kind(name),
    index: new ResourceIndex(),
    hasSeen: () => true,
    isWhole: () => true,
    dialect,
    bounds: UNBOUNDED,
    now: () => 0,
  });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value.message;
  }
}

describe('a message with one resource that sync refuses', () => {
  const labels = service('x').labels;
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`label-${i}`, '']));

  it.each<[string, Partial<WireResource>, string]>([
    ['a uid with NUL', { meta: { ...meta, uid: 'a\u0000b' } }, 'uid: must be 1 to 64'],
    ['NUL in a label', { labels: { ...labels, a: '\u0000' } }, 'labels.a: must not hold NUL'],
    ['NUL in the spec', { spec: { colour: '\u0000' } }, 'spec.colour: must not hold NUL'],
    ['half a surrogate pair in the status', { status: { a: '\ud800' } }, 'status.a: must not hold NUL'],
    ['the name *', { labels: { ...labels, 'kuma.io/display-name': '*' } }, 'name: must be 1 to 253'],
    ['a name of two lines', { labels: { ...labels, 'kuma.io/display-name': 'a\nb' } }, 'name: must be 1 to 253'],
    ['text for its ports', { spec: { ports: 'x' } }, 'spec.ports: must be a list'],
    ['60,000 ports', { spec: { ports: Array.from({ length: 60_000 }, () => 1) } }, 'must have at most 1024 items'],
    ['20,000 labels', { labels: { ...labels, ...many } }, 'the envelope has more than 4096 parts'],
    ['a label of 5 MB', { labels: { ...labels, a: 'x'.repeat(5_000_000) } }, 'at most 786432 are taken'],
    ['a label of 300 kB', { labels: { ...labels, a: 'x'.repeat(300_000) } }, 'not be larger than 262144 bytes'],
  ])('takes the others, and says why not %s', (_, change, reason) => {
    const { items: arrivals, rejected } = received([service('good'), service('bad', change), service('fine')]);
    expect(arrivals.map(({ id }) => id.name)).toEqual(['good', 'fine']);
    expect(rejected).toHaveLength(1);
    expect(rejected[0]?.reason).toContain(reason);
    expect(rejected[0]?.reason.length).toBeLessThan(1_000);
  });

  it('does so with a template of 60,000 braces', () => {
    const generator = (name: string, template: string): WireResource => ({
      ...service(name, { kind: 'HostnameGenerator', mesh: '', meta: { ...meta, namespace: '' } }),
      spec: { selector: { meshService: {} }, template },
    });
    for (const [braces, reason] of [
      [60_000, 'at most 49152 are taken'],
      [10_000, 'spec: must with its labels not be larger than 16384 bytes'],
    ] as const) {
      const bad = generator('bad', '{{'.repeat(braces));
      const { items: arrivals, rejected } = received([bad, generator('good', '{{ name }}.x')]);
      expect(arrivals.map(({ id }) => id.name)).toEqual(['good']);
      expect(rejected[0]?.reason).toContain(reason);
    }
  });

  it('does so with a kind that is only handed on', () => {
    const policy = (name: string, blob: string): WireResource =>
      service(name, { kind: 'MeshTimeout', labels: { ...labels, 'kuma.io/display-name': name }, spec: { blob } });
    const { items: arrivals, rejected } = received(
      [policy('good', 'x'), policy('bad', 'x'.repeat(1_100_000))],
      KUMA_DIALECT,
    );
    expect(arrivals.map(({ id }) => id.name)).toEqual(['good']);
    expect(rejected[0]?.reason).toContain('not be larger than 1048576 bytes');
  });
});

it('keeps what is called as every object inherits', () => {
  const odd = { constructor: 'a', toString: 'b', prototype: 'c' };
  for (const dialect of [CAUSEWAY_DIALECT, KUMA_DIALECT]) {
    const { items: arrivals } = received(
      [service('odd', { labels: { ...service('odd').labels, ...odd }, spec: { selector: { dataplaneTags: odd } } })],
      dialect,
    );
    expect(arrivals[0]?.content.labels).toMatchObject(odd);
    expect(arrivals[0]?.content.spec).toMatchObject({ selector: { dataplaneTags: odd } });
  }
});

it('keeps tags of a Dataplane that are called so, through protobuf as well', () => {
  const tags = { 'kuma.io/service': 'web', constructor: 'a', toString: 'b' };
  const spec = { networking: { address: '10.0.0.1', inbound: [{ port: 80, tags }] } };
  const { items: arrivals, rejected } = received([service('web-1', { kind: 'Dataplane', spec })], KUMA_DIALECT);
  expect(rejected).toEqual([]);
  expect(arrivals[0]?.content.spec).toMatchObject(spec);
});
