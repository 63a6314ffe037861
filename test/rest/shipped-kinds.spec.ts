import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { globalIdentity } from '@causeway/resources';
import { seedShipped } from './shipped-definitions';
import { restFixture, type ParsedJson, type RestFixture } from './rest-fixture';

describe('the definitions that control planes bring', () => {
  let rest: RestFixture;
  beforeEach(async () => {
    rest = await restFixture({ cp: { role: 'global' } });
    await seedShipped(rest);
  });
  afterEach(() => rest.close());

  const call = async (method: 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'POST', url: string, payload?: object) => {
    const answer = await rest.server.inject({ method, url, ...(payload && { payload }) });
    const body: ParsedJson = answer.json();
    return { status: answer.statusCode, body };
  };

  it.each(shippedPolicies.map((policy) => [policy.kind, policy] as const))(
    '%s: nobody changes or deletes it: 403, whatever the document says',
    async (_, policy) => {
      const name = shippedDefinitionName(policy);
      const url = `/metaresourcedefinitions/${name}`;
      const spec = shippedDefinition(policy);
      const document = { type: 'MetaresourceDefinition', name, spec };
      const refused = {
        status: 403,
        body: { detail: expect.stringContaining(`MetaresourceDefinition "${name}" is brought by the control plane`) },
      };
      const before = rest.index.get(globalIdentity('MetaresourceDefinition', name));
      expect(await call('PUT', url, document)).toMatchObject(refused);
      const changed = { ...document, spec: { ...spec, description: 'mine' } };
      expect(await call('PUT', url, changed)).toMatchObject(refused);
      expect(await call('PUT', `${url}?dryRun=true`, changed)).toMatchObject(refused);
      expect(await call('PATCH', url, { spec: { description: 'mine' } })).toMatchObject(refused);
      expect(await call('DELETE', url)).toMatchObject(refused);
      const answer = await rest.server.inject({ method: 'POST', url: '/_apply', payload: [changed] });
      expect(JSON.parse(answer.body.split('\n')[0] ?? '')).toMatchObject({
        outcome: 'refused',
        status: 403,
        detail: refused.body.detail,
      });
      expect(rest.index.get(globalIdentity('MetaresourceDefinition', name))).toEqual(before);
    },
  );

  it('nobody adds one to their group, which is named', async () => {
    const [policy] = shippedPolicies;
    if (!policy) throw new Error('no policies');
    const spec = { ...shippedDefinition(policy), kind: 'PaintPolicy', plural: 'paintpolicies' };
    const document = { type: 'MetaresourceDefinition', name: 'paint', spec };
    expect(await call('PUT', '/metaresourcedefinitions/paint', document)).toMatchObject({
      status: 422,
      body: { invalid_parameters: [{ field: 'spec.group', reason: expect.stringContaining('policies.causeway.io') }] },
    });
  });
});
