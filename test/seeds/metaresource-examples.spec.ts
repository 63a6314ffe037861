import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { JsonObject } from '@causeway/resources';
import { seedShipped } from '../rest/shipped-definitions';
import { restFixture, type ParsedJson, type RestFixture } from '../rest/rest-fixture';

const KIND = 'ColorPolicy.policies.controller.io';
const PATH = '/meshes/default/colorpolicies.policies.controller.io';
const CONFORMING = 'gateway.networking.k8s.io/v1';

/** GEP-713's examples in the order of its text; see testdata. */
const examples: readonly JsonObject[] = parseAll('gep-713-color-policies.yaml');
const DEFINITION: JsonObject = parseAll('gep-713-definition.yaml')[0] ?? {};

function parseAll(file: string): readonly JsonObject[] {
  const text = readFileSync(join(__dirname, 'testdata', file), 'utf8');
  return text.split(/^---$/m).map((document) => parse(document));
}

describe('GEP-713: the kind of the examples, beside the one that control planes bring', () => {
  let rest: RestFixture;
  beforeEach(async () => {
    rest = await restFixture({ cp: { role: 'global' } });
    await seedShipped(rest);
  });
  afterEach(() => rest.close());

  const call = async (method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object | string) => {
    const answer = await rest.server.inject({ method, url, ...(payload !== undefined && { payload }) });
    const body: ParsedJson = answer.body === '' ? undefined : JSON.parse(answer.body);
    return { status: answer.statusCode, body };
  };
  const define = () => call('PUT', '/metaresourcedefinitions/colorpolicies.policies.controller.io', DEFINITION);

  it('declares a second kind, called by name and group', async () => {
    const made = await define();
    expect([made.status, made.body.warnings]).toEqual([
      201,
      [expect.stringContaining('the path and the noun are "colorpolicies.policies.controller.io"')],
    ]);
    const { body } = await call('GET', '/metaresourcedefinitions/colorpolicies.policies.controller.io');
    expect(body.status.names).toEqual({
      kind: KIND,
      plural: 'colorpolicies.policies.controller.io',
      shortName: 'colorpolicy.policies.controller.io',
    });
  });

  it.each(examples.map((example, i) => [i + 1, example] as const))('example %s goes in', async (_, example) => {
    await define();
    const put = await call('PUT', `${PATH}/my-color-policy`, example);
    expect([put.status, put.body.invalid_parameters]).toEqual([201, undefined]);
    const applied = await rest.server.inject({ method: 'POST', url: '/_apply', payload: [example] });
    expect(applied.body).toContain('"unchanged":1');
    const { body } = await call('GET', `${PATH}/my-color-policy`);
    expect(body).toMatchObject({ type: KIND, name: 'my-color-policy', spec: { color: 'blue' } });
    const k8s = await call('GET', `${PATH}/my-color-policy?format=k8s`);
    expect(k8s.body).toMatchObject({ apiVersion: 'policies.controller.io/v1alpha1', kind: 'ColorPolicy' });
    expect((await call('PUT', `${PATH}/my-color-policy`, k8s.body)).status).toBe(200);
    expect((await call('GET', '/meshes/default/colorpolicies')).body).toMatchObject({ total: 0 });
  });

  it('means a listener of a Gateway by sectionName, and an ExternalService that is stored nowhere', async () => {
    await define();
    const [listener, external] = [examples[3] ?? {}, examples[4] ?? {}];
    expect((await call('PUT', `${PATH}/my-color-policy`, listener)).status).toBe(201);
    expect((await call('GET', `${PATH}/my-color-policy`)).body.spec.targetRefs).toEqual([
      { group: CONFORMING, kind: 'Gateway', name: 'my-gateway', sectionName: 'https' },
    ]);
    expect((await call('PUT', `${PATH}/my-color-policy`, external)).status).toBe(200);
    expect((await call('GET', `${PATH}/my-color-policy`)).body.spec.targetRefs).toEqual([
      { group: 'networking.acme.io', kind: 'ExternalService', name: 'foo.com' },
    ]);
  });
});
