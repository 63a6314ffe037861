import { Agent, request } from 'node:http';
import { getRegistry } from '@causeway/meshes';
import { isJsonObject, type JsonObject, type JsonValue, type Kind } from '@causeway/resources';
import type { ResourceIndex } from '@causeway/store';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyView } from '@causeway/xds-translation';
import { INDEX } from '../../apps/control-plane/src/state/index.module';
import { ADMIN_TOKEN } from '../support/admin-credential';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { addresses, references } from '../support/schema-references';
import { TestAuthority } from '../support/test-authority';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

/**
 * Kind × field × role: writes into each reference and each address that a role may write a target that the role may not reach, in every form that
 * such a field has. What the zone accepts, it translates for every proxy; none of the proxies may get the target.
 */

/** Roles, each with a user that holds it in the namespace `default` alone. */
const ROLES = ['service-owner', 'mesh-operator'] as const;
/** The service that metadata of a machine has, and the machine itself; ports that no other test answers at. */
const METADATA = '169.254.169.254';
const SHADOW = '/etc/shadow';
/** Documents of every kind that are written. */
const GIVEN = 'given';

const MARKERS: Readonly<Record<string, string>> = { metadata: METADATA, file: SHADOW };
const REFERENCES: readonly JsonValue[] = [
  'crown',
  SHADOW,
  { name: 'crown' },
  { kind: 'Secret', name: 'crown' },
  { kind: 'Secret', name: 'crown', namespace: 'vault' },
  { kind: 'MeshService', name: 'vault', namespace: 'vault' },
  [{ kind: 'Secret', name: 'crown' }],
  [{ group: '', kind: 'MeshService', name: 'vault', namespace: 'vault' }],
  ['vault'],
  { path: SHADOW },
];
const PLACES: readonly JsonValue[] = [METADATA, `${METADATA}:80`, '::ffff:a9fe:a9fe', 'metadata.internal', SHADOW];

const inbound = [{ port: 80, tags: { 'kuma.io/service': 'web', 'kuma.io/protocol': 'http' } }];
const rule = { backendRefs: [{ kind: 'MeshService', name: 'web', port: 80 }] };
const parentRefs = [{ group: '', kind: 'MeshService', name: 'web' }];
/** Specs that kinds need beside the field; kinds that are not here have the field alone. */
const BASES: Readonly<Record<string, JsonObject>> = {
  Dataplane: { networking: { address: '10.0.0.9', inbound } },
  MeshService: { ports: [{ port: 80 }], selector: { dataplaneTags: { 'kuma.io/service': 'web' } } },
  MeshExternalService: {
    match: { type: 'HostnameGenerator', port: 443, protocol: 'tcp' },
    endpoints: [{ address: '203.0.113.7', port: 443 }],
    tls: { enabled: true },
  },
  MeshMultiZoneService: { selector: { meshService: { matchLabels: { app: 'web' } } }, ports: [{ port: 80 }] },
  HTTPRoute: { parentRefs, rules: [rule] },
  GRPCRoute: { parentRefs, rules: [rule] },
  TCPRoute: { parentRefs, rules: [rule] },
  TLSRoute: { parentRefs, rules: [rule] },
  AccessPolicy: { targetRefs: [{ group: '', kind: 'MeshService', name: 'web' }], action: 'Allow', from: [] },
};

/** A spec with a value at a path such as `a.b[].c`. */
function withValue(spec: JsonObject, [part = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  const key = part === '*' ? 'x' : part.replace('[]', '');
  const before = spec[key];
  const inner = (old: JsonValue | undefined): JsonValue =>
    rest.length === 0 ? value : withValue(isJsonObject(old) ? old : {}, rest, value);
  if (!part.endsWith('[]')) return { ...spec, [key]: inner(before) };
  const [first, ...others] = Array.isArray(before) ? (before as readonly JsonValue[]) : [];
  return { ...spec, [key]: [inner(first), ...others] };
}

describe('what a role may write', () => {
  let database: TestDatabase;
  let zone: ZoneProgram;
  let secret: { readonly cert: string; readonly key: string };
  const tokens = new Map<string, string>();

  const views = (): readonly EnvoyView[] => {
    const dataplane = (name: string, namespace: string) => ({
      kind: 'Dataplane',
      mesh: 'default',
      zone: 'east',
      namespace,
      name,
    });
    const at = { address: '127.0.0.1', port: 10_002 };
    return [
      { mesh: 'default', listed: 'all', capture: { type: 'bind' }, dataplane: dataplane('web-1', 'default') },
      { mesh: 'default', listed: 'all', capture: { type: 'bind' }, dataplane: dataplane('vault-1', 'vault') },
      { mesh: 'default', listed: 'all', capture: { type: 'bind' }, dataplane: dataplane(GIVEN, 'default') },
      { mesh: 'default', listed: 'all', egress: { at, identity: () => undefined } },
    ];
  };
  /** All that proxies are given now. */
  async function given(): Promise<string> {
    const { resources } = zone.xds;
    const index = zone.app.get<ResourceIndex>(INDEX, { strict: false });
    const revision = index.point?.revision ?? 0;
    await until('it is translated', () => (resources.point?.revision ?? -1) >= revision);
    const texts = views().flatMap((view) =>
      Object.values(RESOURCE_TYPES).flatMap((type) =>
        [...resources.names({ id: 'p', view }, type)].map((name) => {
          const resource = resources.get(view, type, name);
          return resource && resource !== 'pending' ? resource.bytes.toString('latin1') : '';
        }),
      ),
    );
    return texts.join('\n');
  }
  const middle = (pem: string): string => pem.split('\n')[2] ?? pem;
  const reached = (text: string): readonly string[] =>
    Object.entries({ ...MARKERS, certificate: middle(secret.cert), key: middle(secret.key) })
      .filter(([, marker]) => text.includes(marker))
      .map(([name]) => name);

  // Thousands of requests: `fetch` takes longer than what answers them.
  const connections = new Agent({ keepAlive: true });
  /** Sends a request about a resource of a kind and resolves with its status. */
  const send = (method: string, { plural, scope }: Kind, token = ADMIN_TOKEN, body = ''): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      const url = `${zone.restUrl}${scope === 'mesh' ? '/meshes/default' : ''}/${plural}/${GIVEN}`;
      const sent = request(url, { method, agent: connections, headers }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.on('error', reject).end(body);
    });
  const put = (user: string, kind: Kind, spec: JsonObject): Promise<number> => {
    const body = { type: kind.name, ...(kind.scope === 'mesh' && { mesh: 'default' }), name: GIVEN, spec };
    return send('PUT', kind, tokens.get(user), JSON.stringify(body));
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await ZoneProgram.start({ DATABASE_URL: database.url });
    await zone.untilLeading();
    const authority = await TestAuthority.create('crown');
    const { key } = await authority.issue({ dns: 'crown' });
    secret = { cert: authority.certificate, key };
    const data = Buffer.from(`${secret.cert}\n${secret.key}`).toString('base64');
    await zone.put('/meshes/default/secrets/crown', { type: 'Secret', mesh: 'default', name: 'crown', spec: { data } });
    const vault = { type: 'Dataplane', mesh: 'default', namespace: 'vault', name: 'vault-1' };
    await zone.put('/meshes/default/dataplanes/vault-1?namespace=vault', {
      ...vault,
      spec: { networking: { address: '10.0.0.8', inbound } },
    });
    const web = { type: 'Dataplane', mesh: 'default', name: 'web-1' };
    await zone.put('/meshes/default/dataplanes/web-1', { ...web, spec: BASES['Dataplane'] });
    await zone.put('/meshes/default/meshservices/web', {
      type: 'MeshService',
      mesh: 'default',
      name: 'web',
      spec: BASES['MeshService'],
    });
    for (const role of ROLES) {
      await zone.put(`/rolebindings/${role}`, {
        type: 'RoleBinding',
        name: role,
        spec: { role, subjects: [{ kind: 'User', name: role }], namespaces: ['default'] },
      });
      const answer = await zone.post('/tokens/user', { name: role, groups: [], validFor: '1h' });
      tokens.set(role, isJsonObject(answer) && typeof answer['token'] === 'string' ? answer['token'] : '');
    }
  });
  afterAll(async () => {
    connections.destroy();
    await zone.stop();
    await database.drop();
  });

  it('is seen by this test where it is granted', async () => {
    const spec = {
      ...BASES['MeshExternalService'],
      tls: {
        enabled: true,
        verification: { caCert: { type: 'Secret', secretRef: { kind: 'Secret', name: 'crown' } } },
      },
    };
    const data = Buffer.from(`${secret.cert}\n${secret.key}`).toString('base64');
    const shared = { data, usedBy: [{ kind: 'MeshExternalService', name: 'granted' }] };
    const body = { type: 'Secret', mesh: 'default', name: 'crown' };
    await zone.put('/meshes/default/secrets/crown', { ...body, spec: shared });
    await zone.put('/meshes/default/meshexternalservices/granted', {
      type: 'MeshExternalService',
      mesh: 'default',
      name: 'granted',
      spec,
    });
    await until('the certificate is given', async () => reached(await given()).includes('certificate'));
    await zone.put('/meshes/default/secrets/crown', { ...body, spec: { data, usedBy: [] } });
    await until('it is taken back', async () => reached(await given()).length === 0);
  });

  it.each(ROLES)('reaches no secret, no file and no address of a machine: %s', async (role) => {
    const registry = getRegistry(zone.app.get<ResourceIndex>(INDEX, { strict: false }));
    const counts = { refused: 0, taken: 0 };
    const broken: string[] = [];
    for (const kind of registry.kinds) {
      const schema: unknown = JSON.parse(JSON.stringify(kind.spec));
      const cases = [
        ...[...new Set(references(schema))].flatMap((path) => REFERENCES.map((value) => ({ path, value }))),
        ...[...new Set(addresses(schema))].flatMap((path) => PLACES.map((value) => ({ path, value }))),
      ];
      for (const { path, value } of cases) {
        const spec = withValue(BASES[kind.name] ?? {}, path.split('.'), value);
        if ((await put(role, kind, spec)) >= 300) {
          counts.refused += 1;
          continue;
        }
        counts.taken += 1;
        for (const what of reached(await given()))
          broken.push(`${kind.name} ${path} ${JSON.stringify(value)}: ${what}`);
        await send('DELETE', kind);
      }
    }
    expect(broken).toEqual([]);
    // Nothing above means anything unless both were seen.
    expect(counts.refused).toBeGreaterThan(100);
    expect(counts.taken).toBeGreaterThan(20);
  });
});
