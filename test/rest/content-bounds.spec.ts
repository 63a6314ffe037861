import { restFixture, type RestFixture } from './rest-fixture';

interface RefusedContent {
  readonly status: number;
  readonly detail: string;
  readonly fields: readonly string[];
}

describe('what a resource may hold', () => {
  let rest: RestFixture;
  // Nothing that is refused is left behind, and large bodies share the thread that reads them.
  beforeAll(async () => {
    rest = await restFixture();
  });
  afterAll(() => rest.close());

  const path = '/meshes/default/meshservices/redis';
  const put = (document: object, url = path): ReturnType<RestFixture['server']['inject']> =>
    rest.server.inject({ method: 'PUT', url, payload: { type: 'MeshService', name: 'redis', ...document } });

  async function refusal(document: object, url = path): Promise<RefusedContent> {
    const answer = await put(document, url);
    const { detail, invalid_parameters: listed } = answer.json();
    const fields = listed.map(({ field, rule }: { field: string; rule: string }) => `${field} ${rule}`);
    return { status: answer.statusCode, detail, fields };
  }

  it('40,000 empty ports break one rule, on a dry run too', async () => {
    const ports = Array.from({ length: 40_000 }, () => ({}));
    const told = await refusal({ spec: { ports } }, `${path}?dryRun=true`);
    expect(told).toEqual({
      status: 422,
      detail: '1 field breaks a rule; nothing was written',
      fields: ['spec.ports too-many'],
    });
  });

  it('a thousand empty ports are a thousand violations, of which a hundred are listed', async () => {
    const told = await refusal({ spec: { ports: Array.from({ length: 1_000 }, () => ({})) } });
    expect(told.detail).toBe('1000 fields break rules; nothing was written; the first 100 are listed');
    expect([told.fields.length, told.fields[99]]).toEqual([100, 'spec.ports[99].port required']);
  });

  it('very many unknown fields: in a spec that is too large, beside it they are counted', async () => {
    const fieldsOf = (count: number, value: unknown): object =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, value]));
    expect((await refusal({ spec: fieldsOf(5_000, 'x'.repeat(60)) })).fields).toEqual(['spec too-large']);
    expect((await refusal(fieldsOf(4_000, 1))).detail).toMatch(/^4000 fields break rules/);
    const answer = await put(fieldsOf(60_000, 1));
    expect([answer.statusCode, answer.json().detail]).toEqual([400, expect.stringContaining('more than 5000 keys')]);
  });

  it('labels are counted and measured before anything looks at them', async () => {
    const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`label ${i}`, 'x y']));
    expect((await refusal({ labels, spec: {} })).fields).toEqual(['labels too-many']);
    expect((await refusal({ labels: { a: 'x'.repeat(300_000) }, spec: {} })).fields).toEqual(['spec too-large']);
  });

  it('no answer repeats a huge value', async () => {
    const text = 'x'.repeat(200_000);
    const answer = await put({ spec: { export: { mode: text }, ports: [{ port: 1, appProtocol: text }], [text]: 1 } });
    expect(answer.statusCode).toBe(422);
    expect(answer.body.length).toBeLessThan(3_000);
  });

  it('a template of 1,024 characters at most', async () => {
    const template = '{{'.repeat(3_000);
    const payload = { type: 'HostnameGenerator', name: 'g', spec: { selector: { meshService: {} }, template } };
    const answer = await rest.server.inject({ method: 'PUT', url: '/hostnamegenerators/g', payload });
    expect([answer.statusCode, answer.json().invalid_parameters]).toMatchObject([
      422,
      [{ field: 'spec.template', rule: 'too-long' }],
    ]);
  });

  it.each(['constructor', 'prototype', 'toString', 'valueOf'])('a tag and a label called %s are kept', async (key) => {
    const spec = { selector: { dataplaneTags: { app: 'redis', [key]: 'kept' } } };
    expect((await put({ labels: { [key]: 'kept' }, spec: { selector: {} } })).statusCode).toBe(201);
    // Only the tag differs: a comparison that sees what every object inherits would write nothing.
    expect((await put({ labels: { [key]: 'kept' }, spec })).statusCode).toBe(200);
    const { labels, spec: stored } = (await rest.server.inject({ url: path })).json();
    expect([labels[key], stored.selector.dataplaneTags]).toEqual(['kept', { app: 'redis', [key]: 'kept' }]);
    const patched = await rest.server.inject({
      method: 'PATCH',
      url: path,
      payload: JSON.stringify({ spec: { selector: { dataplaneTags: { [key]: 'changed' } } } }),
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(patched.statusCode).toBe(200);
    expect((await rest.server.inject({ url: path })).json().spec.selector.dataplaneTags).toEqual({
      app: 'redis',
      [key]: 'changed',
    });
    const found = await rest.server.inject({ url: `/meshservices?filter[labels.${key}]=kept` });
    expect(found.json().total).toBe(1);
    expect((await rest.server.inject({ url: `/meshservices?filter[labels.${key}]=other` })).json().total).toBe(0);
    expect((await rest.server.inject({ method: 'DELETE', url: path })).statusCode).toBe(200);
  });
});
