import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Errors } from 'typebox/schema';
import { coreKinds, Mesh } from '@causeway/kinds';
import type { ControlPlane, Identity, Kind, KindAlias } from '@causeway/resources';
import { namingFixture } from './naming-fixture';
import { refuseLookup, restFixture, ZONE_EAST, type ParsedJson, type RestFixture } from './rest-fixture';
import {
  openAgentLeases,
  openAuthorityAccess,
  openDataplaneAccess,
  openProxies,
  openSyncDecisions,
  openUserAccess,
  openWorkloadAccess,
  openZoneAccess,
} from './open-zone-access';

const GOLDEN = join(__dirname, 'testdata', 'openapi.golden.yaml');
const GLOBAL: ControlPlane = { role: 'global' };
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

describe('openapi.json', () => {
  let rest: RestFixture;
  let api: ParsedJson;
  beforeAll(async () => {
    rest = await restFixture();
    api = (await rest.server.inject({ url: '/openapi.json' })).json();
  });
  afterAll(() => rest.close());

  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(api))).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('is as reviewed', () => {
    const text = stringify(api, { aliasDuplicateObjects: false, lineWidth: 0 });
    if (process.env['UPDATE_GOLDEN']) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  it('names exactly the methods that each path takes', async () => {
    for (const [path, item] of Object.entries<ParsedJson>(api.paths)) {
      const url = path.replace('{mesh}', 'default').replace('{name}', 'x').replace('{kri}', 'x');
      const { statusCode, headers } = await rest.server.inject({ method: 'OPTIONS', url });
      const said = METHODS.filter((method) => method in item).map((method) => method.toUpperCase());
      const taken = String(headers['allow'])
        .split(', ')
        .filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
      expect([path, statusCode, taken.sort()]).toEqual([path, 204, said.sort()]);
    }
  });

  it('gives every operation an id of its own', () => {
    const ids = Object.values<ParsedJson>(api.paths).flatMap((item) =>
      METHODS.flatMap((method) => item[method]?.operationId ?? []),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  it('has an example for every kind', () => {
    for (const kind of coreKinds.kinds) {
      const path = `${kind.scope === 'mesh' ? '/meshes/{mesh}' : ''}/${kind.plural}/{name}`;
      expect([kind.name, api.paths[path].put.requestBody.content['application/json'].example]).toEqual([
        kind.name,
        expect.objectContaining({ type: kind.name, spec: expect.any(Object) }),
      ]);
    }
  });

  it('is shown by a page that needs no other server', async () => {
    const page = await rest.server.inject({ url: '/docs' });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page.body).toContain("fetch('/openapi.json')");
  });
});

describe.each([
  ['zone', ZONE_EAST],
  ['global', GLOBAL],
])('every example works on a %s', (_role, cp) => {
  let rest: RestFixture;
  let api: ParsedJson;
  beforeAll(async () => {
    const open = {
      proxies: openProxies('example'),
      zoneAccess: openZoneAccess,
      userAccess: openUserAccess,
      syncDecisions: openSyncDecisions,
      dataplaneAccess: openDataplaneAccess,
      workloadAccess: openWorkloadAccess,
      authorityAccess: openAuthorityAccess,
      agentLeases: openAgentLeases,
      authority: openZoneAccess.authority,
      instances: { instancesOf: () => [] },
    };
    rest = await namingFixture(cp, { insights: { dnsLookup: refuseLookup }, ...open });
    api = (await rest.server.inject({ url: '/openapi.json' })).json();
  });
  afterAll(() => rest.close());

  const aliases = coreKinds.kinds.flatMap((kind) => kind.aliases);
  const pluralsOf = (some: readonly KindAlias[]): readonly string[] => some.map(({ plural }) => plural);
  const readOnly = coreKinds.kinds.filter((kind) => !kind.sync.writtenOn.includes(cp.role));
  const resolve = (node: ParsedJson): ParsedJson =>
    node.$ref
      ? node.$ref
          .slice(2)
          .split('/')
          .reduce((at: ParsedJson, key: string) => at[key], api)
      : node;

  const call = async (method: (typeof METHODS)[number], path: string): Promise<[string, number]> => {
    const item = api.paths[path];
    const operation = item[method];
    const parameters: ParsedJson[] = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve);
    const place = parameters
      .filter((p) => p.in === 'path')
      .reduce((at, p) => at.replace(`{${p.name}}`, p.example), path);
    const query = parameters.filter((p) => p.in === 'query' && p.required).map((p) => `${p.name}=${p.example}`);
    // Optional on a zone; the document is one for both.
    if (cp.role === 'global' && /\/(hostname|_explain|_routes)$/.test(path)) query.push('zone=example');
    const url = query.length > 0 ? `${place}?${query.join('&')}` : place;
    const contents = Object.entries<ParsedJson>(operation.requestBody?.content ?? {});
    const [type, media] = contents.find(([name]) => name.endsWith('json')) ?? [];
    const body =
      media === undefined ? {} : { payload: JSON.stringify(media.example), headers: { 'content-type': type } };
    const answer = await rest.server.inject({ method: method.toUpperCase(), url, ...body });
    expect(Object.keys(operation.responses)).toContain(String(answer.statusCode));
    const described = operation.responses[answer.statusCode].content?.['application/json']?.schema;
    if (described && String(answer.headers['content-type']).startsWith('application/json')) {
      const [, errors] = Errors({ ...described, components: api.components }, answer.json());
      expect([url, errors]).toEqual([url, []]);
    }
    return [`${method} ${url}`, answer.statusCode];
  };

  it('in the order in which one would try them, and is answered as described', async () => {
    await rest.seed(
      // Kinds of App Mesh are in the mesh that selects their namespace.
      { id: { ...exampleId(Mesh, cp), name: 'default' }, spec: { namespaceSelector: {} } },
      ...readOnly.map((kind) => ({ id: exampleId(kind, cp), spec: (kind.spec as ParsedJson).examples[0] })),
    );
    for (const method of ['put', 'get', 'post', 'patch', 'delete'] as const) {
      for (const path of Object.keys(api.paths).filter((p) => method in api.paths[p])) {
        const named = (plural: string): boolean => path.endsWith(`/${plural}/{name}`);
        const refused =
          method !== 'get' && readOnly.some(({ plural, aliases }) => [plural, ...pluralsOf(aliases)].some(named));
        // The example under an alias is the one under the kind's own name, which is deleted by now.
        if (method === 'delete' && !refused && pluralsOf(aliases).some(named)) await call('put', path);
        const [what, status] = await call(method, path);
        // No service has the name here, and only zones have virtual IPs.
        if (path === '/_resolve/hostname' || (path === '/discovery/hosts' && cp.role === 'global')) {
          expect(status).toBe(404);
          continue;
        }
        expect([what, refused ? status : Math.floor(status / 100)]).toEqual([what, refused ? 403 : 2]);
      }
    }
  });
});

function exampleId(kind: Kind, cp: ControlPlane): Identity {
  const namespace = kind.namespaced ? 'default' : '';
  const zone = kind.sync.zoneInIdentity && cp.role === 'zone' ? cp.zone : '';
  return { kind: kind.name, mesh: kind.scope === 'mesh' ? 'default' : '', zone, namespace, name: 'example' };
}
