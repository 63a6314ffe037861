import fc from 'fast-check';
import { globalIdentity, isJsonObject, type JsonObject, type Resource } from '@causeway/resources';
import { planMesh, type MeshEvaluation } from './plan-mesh';

const NOW = 1_000;
const acceptor = { controlPlane: { role: 'global' }, version: '1.2.3', storeId: '6f1c' } as const;
const features = [{ name: 'HTTPRoute' }];
const REASONS: Readonly<Record<string, string>> = { True: 'Accepted', False: 'InvalidParameters' };

function mesh(status?: JsonObject): Resource {
  const origin = { incarnation: 'i', revision: 1, committedAt: 1 };
  const row = {
    uid: 'u',
    labels: {},
    spec: {},
    generation: 3,
    creationOrder: 1,
    freed: [],
    createdAt: 1,
    modifiedAt: 1,
  };
  return { id: globalIdentity('Mesh', 'default'), ...row, revision: 7, origin, ...(status ? { status } : {}) };
}

const statusOf = (evaluation: MeshEvaluation, before?: JsonObject): JsonObject | undefined =>
  planMesh(mesh(before), evaluation, NOW)?.status;

function acceptedOf(status: JsonObject | undefined): JsonObject {
  const conditions = [status?.['conditions']].flat().filter(isJsonObject);
  const [accepted, ...more] = conditions.filter(({ type }) => type === 'Accepted');
  if (!accepted || more.length > 0) throw new Error('one condition Accepted was expected');
  return accepted;
}

describe('planMesh', () => {
  it('T000-19 says whether the Mesh is accepted, and if so what it supports, in one change', () => {
    const plan = planMesh(mesh(), { acceptor, features }, NOW);
    expect(plan).toMatchObject({ type: 'patch', expect: 7, status: { supportedFeatures: features } });
    expect(plan).not.toHaveProperty('spec');
    expect(acceptedOf(plan?.status)).toMatchObject({ status: 'True', observedGeneration: 3 });
    const rejected = statusOf({ acceptor, features, fault: 'no such object' }, plan?.status);
    expect(rejected).not.toHaveProperty('supportedFeatures');
    expect(acceptedOf(rejected)).toMatchObject({ status: 'False', message: 'no such object' });
    expect(statusOf({ acceptor, features: [] })).toMatchObject({ supportedFeatures: [] });
  });

  it('T000-28 T000-29 the reason follows the status, and neither it nor the message is empty', () => {
    const before = fc.option(
      fc.record({
        conditions: fc.array(fc.record({ type: fc.constantFrom('Accepted', 'Held'), status: fc.string() })),
      }),
      { nil: undefined },
    );
    const fault = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
    fc.assert(
      fc.property(before, fault, (status, why) => {
        const accepted = acceptedOf(statusOf({ acceptor, features, fault: why }, status));
        expect(REASONS).toHaveProperty([accepted['status'] === 'True' ? 'True' : 'False'], accepted['reason']);
        expect(accepted['message']).not.toBe('');
      }),
    );
  });

  it('T000-10 the message names product, version and control plane', () => {
    const { message } = acceptedOf(statusOf({ acceptor, features }));
    expect(message).toMatch(/accepted by .+ v\d+\.\d+\.\d+ \(global control plane "global", cluster 6f1c\)/);
  });

  it('says who may call, counts each loss of a trust domain, and keeps what was said while it is not known', () => {
    const access = { mtls: 'Strict', defaultAccess: 'Deny' } as const;
    const said = (trustDomains: readonly string[] | undefined, before?: JsonObject): JsonObject | undefined =>
      statusOf({ acceptor, features, access: { ...access, ...(trustDomains && { trustDomains }) } }, before);
    expect(said(undefined)).toMatchObject({ access });
    const first = said(['a', 'b']);
    expect(first?.['access']).toEqual({ ...access, trustDomains: ['a', 'b'], narrowed: 0 });
    expect(said(['a', 'b'], first)).toBeUndefined();
    const wider = said(['a', 'b', 'c'], first);
    expect(wider?.['access']).toMatchObject({ narrowed: 0 });
    const narrower = said(['b', 'd'], wider);
    expect(narrower?.['access']).toMatchObject({ trustDomains: ['b', 'd'], narrowed: 1 });
    expect(statusOf({ acceptor, features, fault: 'unreadable' }, narrower)).toMatchObject({
      access: narrower?.['access'],
    });
    expect(said([], narrower)?.['access']).toMatchObject({ trustDomains: [], narrowed: 2 });
  });

  it('I10 changes nothing that says so already', () => {
    const status = statusOf({ acceptor, features });
    expect(planMesh(mesh(status), { acceptor, features }, NOW + 1)).toBeUndefined();
  });
});
