import { coreKinds, declaredKind, MetaresourceDefinition } from '@causeway/kinds';
import { Registry } from '@causeway/resources';
import { namedBy, readRef } from './refs';

const SECOND = {
  group: 'policies.controller.io',
  kind: 'ColorPolicy',
  plural: 'colorpolicies',
  hierarchy: 'mesh',
  declaredTargets: [{ kind: 'Namespace', semantics: 'all of it' }],
  effectiveTarget: { level: 'Rule', semantics: 'what matches' },
  schema: { type: 'object', properties: { color: { type: 'string' } } },
};
const kinds = MetaresourceDefinition.isSpec(SECOND) ? [declaredKind('second', SECOND)] : [];
const registry = new Registry(coreKinds.kinds, { version: 1, kinds });
const document = (apiVersion: string, kind: string): object => ({ apiVersion, kind, metadata: { name: 'a' } });

it.each<[string, string, string | undefined]>([
  ['policy.linkerd.io/v1beta3', 'HTTPRoute', undefined],
  ['gateway.networking.k8s.io/v1', 'HTTPRoute', 'HTTPRoute'],
  ['policies.controller.io/v1', 'ColorPolicy', 'ColorPolicy.policies.controller.io'],
  ['policies.other.io/v1', 'ColorPolicy', undefined],
])('a document %s %s means the resource of its group, never a namesake', (apiVersion, kind, want) => {
  expect(readRef(registry, document(apiVersion, kind), {})?.kind).toBe(want);
});

it('a second kind has the noun PLURAL.GROUP', () => {
  expect(namedBy(registry, 'colorpolicies.policies.controller.io/a').kind.name).toBe(
    'ColorPolicy.policies.controller.io',
  );
});
