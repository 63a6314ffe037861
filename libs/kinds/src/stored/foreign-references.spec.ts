import { HTTPRoute } from '../http-route';
import { ReferenceGrant } from '../reference-grant';
import { foreignReferences } from './foreign-references';

const places = (spec: unknown): readonly string[] => foreignReferences(spec).map((text) => text.split(':')[0] ?? '');

it.each<[string, unknown, readonly string[]]>([
  [
    'the groups of services',
    {
      parentRefs: ['', 'core', 'kuma.io', 'gateway.networking.k8s.io'].map((group) => ({
        group,
        kind: 'MeshService',
        name: 'a',
      })),
    },
    [],
  ],
  [
    'a version behind the group',
    { parentRefs: [{ group: 'gateway.networking.k8s.io/v1', kind: 'Gateway', name: 'a' }] },
    [],
  ],
  [
    'a Gateway of others',
    { parentRefs: [{ group: 'networking.istio.io', kind: 'Gateway', name: 'a' }] },
    ['spec.parentRefs[0]'],
  ],
  ['a kind of others', { parentRefs: [{ kind: 'Ingress', name: 'a' }] }, ['spec.parentRefs[0]']],
  [
    'a backend of others',
    { rules: [{ backendRefs: [{ name: 'a' }, { group: 'serving.knative.dev', kind: 'Service', name: 'b' }] }] },
    ['spec.rules[0].backendRefs[1]'],
  ],
  [
    'a mirror',
    { rules: [{ filters: [{ requestMirror: { backendRef: { group: 'x.io', name: 'a' } } }] }] },
    ['spec.rules[0].filters[0].requestMirror.backendRef'],
  ],
  [
    'a mirror of a backend',
    {
      rules: [
        { backendRefs: [{ name: 'a', filters: [{ requestMirror: { backendRef: { group: 'x.io', name: 'a' } } }] }] },
      ],
    },
    ['spec.rules[0].backendRefs[0].filters[0].requestMirror.backendRef'],
  ],
  [
    'a grant',
    {
      from: [],
      to: [
        { group: 'x.io', kind: 'Service' },
        { group: '', kind: 'Service' },
      ],
    },
    ['spec.to[0]'],
  ],
  ['another shape', { parentRefs: 5, rules: [null, { backendRefs: [7, { group: 3 }] }] }, []],
])('%s', (_, spec, want) => {
  expect(places(spec)).toEqual(want);
});

it('is said to who writes it, with the groups that are meant', () => {
  const route = { parentRefs: [{ group: 'networking.istio.io', kind: 'Gateway', name: 'a' }] };
  expect(HTTPRoute.warnings('a', route)).toEqual([
    expect.stringMatching(
      /^spec.parentRefs\[0\]: Gateway of the group "networking.istio.io" is no kind that routes bind to.*gateway\.networking\.k8s\.io/,
    ),
  ]);
  const grant = { from: [{ group: 'x.io', kind: 'A', namespace: 'b' }], to: [{ group: 'x.io', kind: 'Service' }] };
  expect(ReferenceGrant.warnings('a', grant)).toHaveLength(1);
});
