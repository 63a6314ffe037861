import { coreKinds } from '@causeway/kinds';
import { computedLabels, type JsonObject, type Resource } from '@causeway/resources';
import { brokenRules } from './plan-conditions';

const GLOBAL = { role: 'global' } as const;

function broken(kindName: string, spec: JsonObject): string | undefined {
  const kind = coreKinds.kind(kindName);
  if (!kind) throw new Error(`no kind ${kindName}`);
  const id = { kind: kindName, mesh: 'default', zone: 'kz', namespace: 'default', name: 'web' };
  const resource: Resource = {
    id,
    uid: 'u',
    labels: computedLabels(kind, id, GLOBAL),
    spec,
    generation: 1,
    creationOrder: 0,
    createdAt: 0,
    modifiedAt: 0,
    revision: 1,
    origin: { incarnation: '', revision: 0, committedAt: 0 },
    freed: [],
  };
  return brokenRules(kind, resource);
}

const KEPT = 'kept and handed on unchanged: ';

describe('brokenRules', () => {
  // What Kuma 2.14.3 was seen to let pass (design.md §5 Strict at the door, tolerant on the wire).
  it.each<[string, JsonObject, string]>([
    ['port 0', { ports: [{ port: 0 }] }, 'spec.ports[0].port must be 1 to 65535; got 0 (DNS has no SRV record for it)'],
    [
      'port -1',
      { ports: [{ port: -1 }] },
      'spec.ports[0].port must be 1 to 65535; got -1 (DNS has no SRV record for it)',
    ],
    [
      'port 65536',
      { ports: [{ port: 65536 }] },
      'spec.ports[0].port must be 1 to 65535; got 65536 (DNS has no SRV record for it)',
    ],
    [
      'one port twice',
      { ports: [{ port: 80 }, { port: 80 }] },
      'spec.ports[1].port must be unique; 80 is already at index 0 (DNS answers for the first of them only)',
    ],
    [
      'an unknown protocol',
      { ports: [{ port: 80, appProtocol: 'smtp' }] },
      'spec.ports[0].appProtocol must be one of tcp, http, http2, grpc, kafka; got "smtp" (it is taken for tcp)',
    ],
    [
      'an unknown field',
      { prots: [] },
      'spec.prots is not a known field; did you mean "ports"? (nothing here reads it)',
    ],
  ])('%s', (_, spec, want) => expect(broken('MeshService', spec)).toBe(KEPT + want));

  it('is silent about what is in order', () => {
    expect(broken('MeshService', { ports: [{ port: 80, appProtocol: 'http' }], state: 'Available' })).toBeUndefined();
  });

  it('spells out a few of many and counts the others', () => {
    const ports = Array.from({ length: 7 }, (_, i) => ({ port: -i - 1 }));
    expect(broken('MeshService', { ports })).toMatch(/ports\[4\].*; and 2 more$/);
  });

  it.each<[string, string, JsonObject, string]>([
    [
      '60,000 ports',
      'MeshService',
      { ports: Array.from({ length: 60_000 }, () => ({})) },
      'spec.ports must have at most',
    ],
    [
      '60,000 braces',
      'HostnameGenerator',
      { selector: { meshService: {} }, template: '{{'.repeat(30_000) },
      'spec must not be larger than 16384 bytes',
    ],
    [
      'a few thousand braces',
      'HostnameGenerator',
      { selector: { meshService: {} }, template: '{{'.repeat(3_000) },
      'spec.template must not be longer than 1024 characters, has 6000 (it makes no hostname)',
    ],
    ['a huge word', 'MeshService', { ports: [{ port: 1, appProtocol: 'x'.repeat(200_000) }] }, 'must be one of tcp'],
  ])('is short about %s that were stored before there were bounds', (_, kind, spec, reason) => {
    const said = broken(kind, spec);
    expect(said).toContain(reason);
    expect(said?.length).toBeLessThan(1_000);
  });

  it('reports what a generator does not do', () => {
    const spec = { selector: { meshService: {} }, template: '{{ range }}' };
    expect(broken('HostnameGenerator', spec)).toMatch(
      /^kept and handed on unchanged: spec\.template .*\(it makes no hostname\)$/,
    );
  });

  it('repeats nothing of a secret', () => {
    const said = broken('Secret', { data: 'not base64 at all: hunter2!' });
    expect(said).toContain('spec.data');
    expect(said).not.toContain('hunter2');
  });
});
