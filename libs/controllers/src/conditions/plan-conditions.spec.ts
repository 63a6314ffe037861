import { coreKinds } from '@causeway/kinds';
import { computedLabels, type JsonObject } from '@causeway/resources';
import { storedResource } from '../../../../test/support/loop-harness';
import { brokenRules, planConditions, type ConditionInputs } from './plan-conditions';

const GLOBAL = { role: 'global' } as const;

function broken(kindName: string, spec: JsonObject): string | undefined {
  const kind = coreKinds.kind(kindName);
  if (!kind) throw new Error(`no kind ${kindName}`);
  const id = { kind: kindName, mesh: 'default', zone: 'kz', namespace: 'default', name: 'web' };
  return brokenRules(kind, storedResource(id, { labels: computedLabels(kind, id, GLOBAL), spec }));
}

const KEPT = 'kept and handed on unchanged: ';

describe('brokenRules', () => {
  // Specs that Kuma 2.14.3 accepted (docs/design.md §5 Strict at the door, tolerant on the wire).
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
      'spec.ports[0].appProtocol must be one of tcp, http, http2, grpc, kafka; got "smtp" (it is treated as tcp)',
    ],
    [
      'an unknown field',
      { prots: [] },
      'spec.prots is not a known field; did you mean "ports"? (this control plane does not read it)',
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

describe('planConditions', () => {
  const EAST = { role: 'zone', zone: 'east', federated: true } as const;
  const SPEC = { ports: [{ port: 80 }] };
  const SINCE = '2026-01-01T00:00:00.000Z';
  const inputs = (rest: Partial<ConditionInputs> = {}): ConditionInputs => ({
    cp: EAST,
    meshFault: () => undefined,
    designation: ({ mesh }) => ({ ok: true, mesh }),
    lostState: () => undefined,
    unsupportedByKuma: () => undefined,
    hasMeshMtls: () => false,
    oldCredential: () => undefined,
    ...rest,
  });
  const planned = (given: ConditionInputs, { zone = 'west', spec = SPEC as JsonObject, status = {} as JsonObject }) => {
    const kind = coreKinds.kind('MeshService');
    if (!kind) throw new Error('no kind MeshService');
    const id = { kind: 'MeshService', mesh: 'default', zone, namespace: 'default', name: 'web' };
    return planConditions(storedResource(id, { spec, status }), kind, given, 0);
  };
  const lost = inputs({ lostState: () => ({ policy: 'keep', since: SINCE }) });

  it.each<[string, ConditionInputs, Parameters<typeof planned>[1], JsonObject[]]>([
    ['a lost zone', lost, {}, [{ type: 'OriginLost', reason: 'Kept' }]],
    [
      'a missing mesh',
      inputs({ meshFault: () => ({ reason: 'NoSuchMesh', message: 'none' }) }),
      { zone: 'east' },
      [{ type: 'MeshMissing' }],
    ],
    ['a broken rule of a copy', inputs(), { spec: { ports: [{ port: 0 }] } }, [{ type: 'RulesBroken' }]],
    [
      'what Kuma cannot represent',
      inputs({ unsupportedByKuma: () => 'no' }),
      {},
      [{ message: expect.stringMatching(/no$/) }],
    ],
    [
      'a service of Mesh.mtls by its id',
      inputs({ hasMeshMtls: (mesh) => mesh === 'default' }),
      { spec: { ...SPEC, identities: [{ type: 'SpiffeID', value: 'spiffe://default/web' }] }, zone: 'east' },
      [{ type: 'MeshMtls', reason: 'SharedAuthority' }],
    ],
    [
      "a service of Kuma's by its tag, beside an id of its own",
      inputs({ hasMeshMtls: () => true }),
      {
        spec: {
          ...SPEC,
          identities: [
            { type: 'SpiffeID', value: 'spiffe://default.kz.mesh.local/workload/web' },
            { type: 'ServiceTag', value: 'web' },
          ],
        },
      },
      [{ type: 'MeshMtls' }],
    ],
    [
      'several at once, besides those of other writers',
      inputs({ ...lost, meshFault: () => ({ reason: 'NoSuchMesh', message: 'none' }) }),
      { status: { conditions: [{ type: 'VIPAllocated', status: 'False' }] } },
      [{ type: 'VIPAllocated' }, { type: 'OriginLost' }, { type: 'MeshMissing' }],
    ],
  ])('%s is a condition, written once and removed at its end', (_, given, part, want) => {
    const change = planned(given, part);
    expect(change?.status?.['conditions']).toMatchObject(want);
    const status = change?.status ?? {};
    expect(planned(given, { ...part, status })).toBeUndefined();
    const others = (part.status?.['conditions'] as readonly JsonObject[] | undefined) ?? [];
    const ended = planned(inputs(), { ...part, spec: SPEC, status });
    expect(ended?.status).toEqual(others.length > 0 ? { conditions: others } : {});
  });

  it.each<[string, Parameters<typeof planned>[1]]>([
    ['a resource made here whose name is that of no lost zone', { zone: 'east' }],
    [
      'a broken rule of a resource made here: its writer saw the violation',
      { zone: 'east', spec: { ports: [{ port: 0 }] } },
    ],
  ])('%s has none', (_, part) => expect(planned(lost, part)).toBeUndefined());

  it('a service with ids of its own only is not of Mesh.mtls', () => {
    const identities = [{ type: 'SpiffeID', value: 'spiffe://default.east.mesh.local/workload/web' }];
    expect(planned(inputs({ hasMeshMtls: () => true }), { spec: { ...SPEC, identities } })).toBeUndefined();
  });
});
