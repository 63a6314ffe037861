import { restFixture, type FixtureOptions } from './rest-fixture';

const TOKEN = 'operator-secret';
const generator = {
  type: 'HostnameGenerator',
  name: 'g',
  spec: { selector: { meshService: {} }, template: '{{ name }}.mesh' },
};
const service = { type: 'MeshService', name: 's', spec: {} };
const PUBLIC = { bindAddress: '0.0.0.0' };
const LOCAL = { bindAddress: '127.0.0.1' };

async function put(
  options: FixtureOptions,
  url: string,
  payload: object,
  authorization?: string,
): Promise<[number, string]> {
  const rest = await restFixture(options);
  try {
    const answer = await rest.server.inject({
      method: 'PUT',
      url,
      payload,
      ...(authorization ? { headers: { authorization } } : {}),
    });
    return [answer.statusCode, answer.json().detail ?? ''];
  } finally {
    await rest.close();
  }
}

describe('who may write', () => {
  const G = '/hostnamegenerators/g';
  const S = '/meshes/default/meshservices/s';

  it.each([
    ['loopback, no token set', LOCAL, undefined, [201, 201]],
    ['loopback, token set, none sent', { ...LOCAL, operatorToken: TOKEN }, undefined, [403, 201]],
    ['loopback, token set and sent', { ...LOCAL, operatorToken: TOKEN }, `Bearer ${TOKEN}`, [201, 201]],
    ['loopback, token set, wrong one sent', { ...LOCAL, operatorToken: TOKEN }, 'Bearer wrong', [403, 403]],
    ['public, no token set', PUBLIC, `Bearer ${TOKEN}`, [403, 403]],
    ['public, token set, none sent', { ...PUBLIC, operatorToken: TOKEN }, undefined, [403, 403]],
    ['public, token set and sent', { ...PUBLIC, operatorToken: TOKEN }, `bearer ${TOKEN}`, [201, 201]],
    ['IPv6 loopback, no token set', { bindAddress: '::1' }, undefined, [201, 201]],
  ])('%s', async (_case, access, authorization, wanted) => {
    const [operators] = await put({ access }, G, generator, authorization);
    const [anybodys] = await put({ access }, S, service, authorization);
    expect([operators, anybodys]).toEqual(wanted);
  });

  it('is told how to get on', async () => {
    const [, detail] = await put({ access: PUBLIC }, S, service);
    expect(detail).toBe(
      'this control plane listens on 0.0.0.0 and has no operator token, so it takes no writes; set CAUSEWAY_OPERATOR_TOKEN, or CAUSEWAY_BIND_ADDRESS to 127.0.0.1',
    );
  });

  it('says who the caller is', async () => {
    const rest = await restFixture({ access: { ...LOCAL, operatorToken: TOKEN } });
    try {
      expect((await rest.server.inject({ url: '/who-am-i' })).json()).toEqual({ name: 'anonymous', groups: [] });
      const operator = await rest.server.inject({ url: '/who-am-i', headers: { authorization: `Bearer ${TOKEN}` } });
      expect(operator.json()).toEqual({ name: 'operator', groups: ['operators'] });
    } finally {
      await rest.close();
    }
  });
});

describe('secrets', () => {
  const url = '/meshes/default/secrets/key';
  const id = { kind: 'Secret', mesh: 'default', zone: 'east', namespace: '', name: 'key' };
  const spec = { data: 'dG9wIHNlY3JldA==' };
  const labels = { 'kuma.io/zone': 'east' };

  it('show their value to a GET of one only', async () => {
    const rest = await restFixture();
    try {
      await rest.seed({ id, labels, spec });
      expect((await rest.server.inject({ url })).json().spec).toEqual(spec);
      expect(
        (await rest.server.inject({ url: '/_kri/' + (await rest.server.inject({ url })).json().kri })).statusCode,
      ).toBe(200);
      for (const list of ['/secrets', '/meshes/default/secrets']) {
        expect((await rest.server.inject({ url: list })).body).not.toContain(spec.data);
      }
    } finally {
      await rest.close();
    }
  });

  it.each([
    ['a token is set', { ...LOCAL, operatorToken: TOKEN }],
    ['it listens to the world', PUBLIC],
  ])('are for the operator only where %s', async (_case, access) => {
    const rest = await restFixture({ access });
    try {
      await rest.seed({ id, labels, spec });
      for (const path of [url, '/_kri/kri_sec_default_east__key_']) {
        const answer = await rest.server.inject({ url: path });
        expect([answer.statusCode === 403 || answer.statusCode === 400, answer.body.includes(spec.data)]).toEqual([
          true,
          false,
        ]);
      }
    } finally {
      await rest.close();
    }
  });
});
