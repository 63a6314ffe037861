import type { DataplaneResource } from '@causeway/dataplanes';
import { Dataplane, MeshIdentity } from '@causeway/kinds';
import type { JsonObject, Labels } from '@causeway/resources';
import { idOf, storedResource } from '../../../test/support/loop-harness';
import { findBindingProblem, findWorkloadProblem, type WorkloadBinding } from './workload-binding';
import { selectIdentity, resolveSpiffeId, resolveTrustDomain, type MeshIdentityResource } from './workload-id';

function dataplane(
  name: string,
  labels: Labels = {},
  tags: Labels[] = [{ 'kuma.io/service': 'web' }],
): DataplaneResource {
  const inbound = tags.map((one, i) => ({ port: 80 + i, tags: { ...one } }));
  const made = storedResource(idOf('Dataplane', name), {
    labels,
    spec: { networking: { address: '10.0.0.1', inbound } },
  });
  if (!Dataplane.is(made)) throw new Error('not a Dataplane');
  return made;
}

function identity(
  name: string,
  matchLabels: Labels | undefined,
  rest: { spiffeID?: JsonObject; age?: number; zone?: string; mesh?: string } = {},
): MeshIdentityResource {
  const { spiffeID, age = 1, zone = '', mesh = 'default' } = rest;
  const id = { kind: 'MeshIdentity', name, mesh, zone, namespace: '' };
  const selector = matchLabels ? { selector: { dataplane: { matchLabels: { ...matchLabels } } } } : {};
  const spec = { ...selector, ...(spiffeID ? { spiffeID } : {}), provider: { type: 'Bundled' } };
  const made = { ...storedResource(id, { labels: {}, spec }), creationOrder: age };
  if (!MeshIdentity.is(made)) throw new Error('not a MeshIdentity');
  return made;
}

describe('the MeshIdentity of a Dataplane', () => {
  const web = dataplane('web-1', { app: 'web', tier: 'gold' });
  it.each<[string, MeshIdentityResource[], string | undefined]>([
    ['none', [], undefined],
    ['one without a selector selects nobody', [identity('a', undefined)], undefined],
    ['an empty selector selects all', [identity('a', {})], 'a'],
    ['another label', [identity('a', { app: 'db' })], undefined],
    [
      'most labels',
      [identity('a', {}), identity('b', { app: 'web', tier: 'gold' }), identity('c', { app: 'web' })],
      'b',
    ],
    ['then the older', [identity('a', {}, { age: 2 }), identity('b', {}, { age: 1 })], 'b'],
    ['an unknown age ranks last', [identity('a', {}, { age: 0 }), identity('b', {}, { age: 9 })], 'b'],
    ['then by name', [identity('b', {}), identity('a', {})], 'a'],
    ['of another mesh', [identity('a', {}, { mesh: 'other' })], undefined],
    ['of another zone', [identity('a', {}, { zone: 'west' })], undefined],
    ['of its own zone', [identity('a', {}, { zone: 'east' })], 'a'],
  ])('%s', (_, identities, want) => {
    expect(selectIdentity(web, identities)?.id.name).toBe(want);
    expect(selectIdentity(web, [...identities].reverse())?.id.name).toBe(want);
  });
});

describe('the SPIFFE id of a Dataplane', () => {
  it.each<[string, DataplaneResource, JsonObject | undefined, string]>([
    ['by default, of its name', dataplane('web-1'), undefined, 'spiffe://default.east.mesh.local/workload/web-1'],
    [
      'of its workload label',
      dataplane('web-1', { 'kuma.io/workload': 'web' }),
      undefined,
      'spiffe://default.east.mesh.local/workload/web',
    ],
    [
      'by templates',
      dataplane('web-1', { team: 'x' }),
      { trustDomain: '{{ .Zone }}.example', path: '/ns/{{ .Namespace }}/{{ label "team" }}/{{ .Workload }}' },
      'spiffe://east.example/ns/default/x/web-1',
    ],
    [
      'without a label that is read',
      dataplane('web-1'),
      { path: '/{{ label "team" }}/{{ .Workload }}' },
      'MeshIdentity a.spec.spiffeID.path: reads label "team", which Dataplane web-1 has not (required)',
    ],
    [
      'of a workload that is empty',
      dataplane('web-1', { 'kuma.io/workload': '' }),
      undefined,
      'MeshIdentity a.spec.spiffeID.path: gives no path of a SPIFFE id: it has an empty segment; got "/workload/" (wrong-form)',
    ],
    [
      'of a workload that leaves its segment',
      dataplane('web-1', { 'kuma.io/workload': '..' }),
      undefined,
      'MeshIdentity a.spec.spiffeID.path: gives no path of a SPIFFE id: "." and ".." are no segments; got "/workload/.." (wrong-form)',
    ],
  ])('%s', (_, one, spiffeID, want) => {
    const found = resolveSpiffeId(one, identity('a', {}, spiffeID ? { spiffeID } : {}), 'Workload');
    const text = found.ok
      ? found.id.uri
      : found.violations.map(({ field, reason, rule }) => `${field}: ${reason} (${rule})`).join();
    expect(text.replace('["MeshIdentity a"]', 'MeshIdentity a')).toBe(want);
  });

  it('collects the faults of both templates, and gives the trust domain of a zone without a Dataplane', () => {
    const bad = identity('a', {}, { spiffeID: { trustDomain: 'x', path: '/{{ .Workload }}' } });
    const mesh = { ...bad, id: { ...bad.id, mesh: 'Default' }, spec: { provider: bad.spec.provider } };
    const one = dataplane('a', { 'kuma.io/workload': '.' });
    const found = resolveSpiffeId({ ...one, id: { ...one.id, mesh: 'Default' } }, mesh, 'Workload');
    expect(found.ok ? [] : found.violations.map(({ rule }) => rule)).toEqual(['wrong-form', 'wrong-form']);
    expect(resolveTrustDomain(identity('a', {}), 'west')).toEqual({ ok: true, trustDomain: 'default.west.mesh.local' });
    expect(resolveTrustDomain(mesh, 'west')).toMatchObject({ ok: false, violation: { rule: 'wrong-form' } });
  });
});

describe('a credential', () => {
  const plain = dataplane('web-1', {}, [{ 'kuma.io/service': 'web' }, { 'kuma.io/service': 'admin' }]);
  const labelled = dataplane('web-1', { 'kuma.io/workload': 'web' });
  const allowed = { 'kuma.io/service': ['web', 'admin'] };
  it.each<[string, WorkloadBinding, DataplaneResource, string | undefined, string | undefined]>([
    ['of everything', {}, plain, undefined, 'must have the claim "Name" or "Workload"; the workload is "web-1"'],
    ['of a name', { name: 'web-1', mesh: 'default' }, plain, undefined, undefined],
    [
      'of a name alone, the workload from the label',
      { name: 'web-1' },
      labelled,
      undefined,
      'must have the claim "Workload": the Dataplane\'s workload "web" comes from its label kuma.io/workload',
    ],
    ['of a workload', { workload: 'web' }, labelled, undefined, undefined],
    ...(['workload', 'name', 'mesh'] as const).map(
      (key): [string, WorkloadBinding, DataplaneResource, string, string] => {
        const claim = `${key.slice(0, 1).toUpperCase()}${key.slice(1)}`;
        const held = { workload: 'web', name: 'web-1', mesh: 'default' }[key];
        const want = `claim "${claim}" is "db", the Dataplane has "${held}"`;
        return [`of another ${key}`, { [key]: 'db' }, labelled, want, want];
      },
    ),
    ['of its tags', { tags: allowed, workload: 'web-1' }, plain, undefined, undefined],
    [
      'of fewer tags',
      { tags: { 'kuma.io/service': ['web'] }, name: 'web-1' },
      plain,
      'claim "Tags" allows "kuma.io/service": web; the Dataplane has "admin"',
      'claim "Tags" allows "kuma.io/service": web; the Dataplane has "admin"',
    ],
    [
      'of a tag that is not there',
      { tags: { constructor: ['x'] } },
      plain,
      'claim "Tags" has "constructor", which the Dataplane has not',
      'claim "Tags" has "constructor", which the Dataplane has not',
    ],
  ])('%s', (...[, binding, one, holds, proves]) => {
    expect(findBindingProblem(binding, one)).toBe(holds);
    expect(findWorkloadProblem(binding, one)).toBe(proves);
  });
});
