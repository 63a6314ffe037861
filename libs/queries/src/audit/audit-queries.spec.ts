import { coreKinds, declaredKind, MetaresourceDefinition } from '@causeway/kinds';
import { Registry } from '@causeway/resources';
import type { AuditQuery } from '@causeway/store';
import { AuditQueries } from './audit-queries';

const SECOND = {
  group: 'policies.controller.io',
  kind: 'ColorPolicy',
  plural: 'colorpolicies',
  hierarchy: 'mesh',
  declaredTargets: [{ kind: 'Namespace', semantics: 'all of it' }],
  effectiveTarget: { level: 'Rule', semantics: 'what matches' },
  schema: { type: 'object', properties: { color: { type: 'string' } } },
};

it.each<[string | undefined, Partial<AuditQuery>]>([
  ['colorpolicies.policies.controller.io', { kind: 'ColorPolicy.policies.controller.io' }],
  ['ColorPolicy.policies.controller.io', { kind: 'ColorPolicy.policies.controller.io' }],
  ['ColorPolicy', { kind: 'ColorPolicy' }],
  ['UserToken', { kind: 'UserToken' }],
  ['XMesh', { kind: 'Mesh', mesh: '' }],
  ['Zone', { kind: 'Zone', mesh: '' }],
  [undefined, {}],
])('the kind %s is read as %j', async (kind, want) => {
  if (!MetaresourceDefinition.isSpec(SECOND)) throw new Error('the definition is none');
  const kinds = [declaredKind('second', SECOND)];
  const asked: AuditQuery[] = [];
  const log = {
    page: async (query: AuditQuery) => {
      asked.push(query);
      return { entries: [] };
    },
    record: async () => undefined,
    purge: async () => 0,
  };
  const registry = new Registry(coreKinds.kinds, { version: 1, kinds });
  await new AuditQueries(log, registry).page({ size: 10, ...(kind !== undefined && { kind }) });
  expect(asked).toEqual([{ size: 10, ...want }]);
});
