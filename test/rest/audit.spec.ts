import { randomBytes } from 'node:crypto';
import { AccessPolicy } from '@causeway/access';
import { Admission } from '@causeway/admission';
import { coreKinds } from '@causeway/kinds';
import type { ZoneAccess } from '@causeway/queries';
import { createRestServer, type RestServer } from '@causeway/rest/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex } from '@causeway/store';
import type { PostgresBackend } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import type { InjectOptions } from 'fastify';
import { Client } from 'pg';
import { restAccess } from '../support/rest-access';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { openUserAccess, openZoneAccess } from './open-zone-access';
import { meshId, type ParsedJson } from './rest-fixture';
import { meshesOf } from '../support/meshes';

const GLOBAL = { role: 'global' } as const;
const TOKEN = randomBytes(16).toString('hex');
const OPERATOR = { authorization: `Bearer ${TOKEN}`, 'user-agent': 'audit-test/1' };

/** A text in issued tokens that must be found nowhere. */
const ISSUED = randomBytes(16).toString('hex');
const zoneAccess: ZoneAccess = {
  ...openZoneAccess,
  issue: async (order) => ({ ...(await openZoneAccess.issue(order)), token: ISSUED }),
};

/** A replica of a global: REST over one database. */
interface Replica {
  readonly server: RestServer;
  readonly backend: PostgresBackend;
  close(): Promise<void>;
}

async function replicaOf(database: TestDatabase): Promise<Replica> {
  const backend = await createPostgresBackend({ url: database.url });
  const { store, audit } = backend;
  const index = new ResourceIndex();
  const ended = new AbortController();
  const following = followStore(store, index, { clock: systemClock, logger: silentLogger, signal: ended.signal });
  await index.reached(0);
  const parts = { registry: coreKinds, store, index, meshes: meshesOf(index), clock: systemClock };
  const policy = new AccessPolicy({ registry: coreKinds, index, cp: GLOBAL });
  const server = await createRestServer({
    ...parts,
    audit,
    cp: GLOBAL,
    logger: silentLogger,
    zoneAccess,
    userAccess: openUserAccess,
    admission: new Admission({ ...parts, controlPlane: GLOBAL, access: policy }),
    access: restAccess(policy, { operatorToken: TOKEN, open: false }),
    program: { version: '0', instanceId: 'test', config: {} },
  });
  const close = async (): Promise<void> => {
    await server.close();
    policy.close();
    ended.abort();
    await following;
    await backend.close();
  };
  return { server, backend, close };
}

describe('GET /_audit of two replicas', () => {
  let database: TestDatabase;
  let one: Replica;
  let two: Replica;
  beforeAll(async () => {
    database = await createTestDatabase();
    const first = await createPostgresBackend({ url: database.url });
    const mesh = {
      type: 'put',
      id: meshId('default'),
      expect: 'any',
      labels: { 'kuma.io/origin': 'global' },
      spec: {},
    } as const;
    await first.store.write({ changes: [mesh], onRefusal: 'abort' });
    await first.close();
    [one, two] = await Promise.all([replicaOf(database), replicaOf(database)]);
  });
  afterAll(async () => {
    await Promise.all([one.close(), two.close()]);
    await database.drop();
  });

  function send(
    replica: Replica,
    request: InjectOptions,
  ): Promise<{ readonly statusCode: number; json(): ParsedJson }> {
    return replica.server.inject({ headers: OPERATOR, ...request });
  }

  async function items(query: string): Promise<ParsedJson[]> {
    const answer = await send(two, { method: 'GET', url: `/_audit?${query}` });
    expect(answer.statusCode).toBe(200);
    return answer.json().items;
  }

  /** The newest entry of a query, once it is there: refusals come a moment later. */
  async function eventually(query: string): Promise<ParsedJson> {
    for (;;) {
      const [first] = await items(`${query}&size=1`);
      if (first) return first;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function secret(name: string, data: string): InjectOptions {
    return { method: 'PUT', url: `/globalsecrets/${name}`, payload: { type: 'GlobalSecret', name, data } };
  }

  it('says who made, changed and deleted a resource, and leaves out what wrote nothing', async () => {
    const url = '/meshes/mesh-1';
    const payload = { type: 'Mesh', name: 'mesh-1' };
    const made = await send(one, { method: 'PUT', url, payload });
    expect(made.statusCode).toBe(201);
    await send(one, { method: 'PUT', url, payload });
    await send(one, { method: 'PUT', url: `${url}?dryRun=true`, payload: { ...payload, labels: { a: 'b' } } });
    await send(two, { method: 'PATCH', url, payload: { labels: { team: 'db' } } });
    await send(one, { method: 'DELETE', url });
    const found = await items('kind=Mesh&name=mesh-1');
    const common = {
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      user: 'operator',
      groups: ['causeway:admins'],
      recognizedBy: 'operator-token',
      address: '127.0.0.1',
      interface: 'REST',
      userAgent: 'audit-test/1',
      kind: 'Mesh',
      name: 'mesh-1',
      result: 'done',
      revision: expect.any(Number),
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    };
    expect(found).toEqual([
      { ...common, verb: 'delete', generationBefore: 2 },
      { ...common, verb: 'update', generationBefore: 1, generationAfter: 2 },
      { ...common, verb: 'create', generationAfter: 1 },
    ]);
    expect(await items('kind=Mesh&mesh=&name=mesh-1&size=1')).toEqual([found[0]]);
    expect(await items(`kind=Mesh&since=${found[1].time}&verb=create&name=mesh-1`)).toEqual([]);
  });

  it('says what was refused: without rights, invalid, in conflict, absent; and nothing of dry runs', async () => {
    const stranger = { headers: { host: 'elsewhere.example', 'user-agent': 'stranger' } };
    const refused = { method: 'PUT', url: '/meshes/mesh-2', payload: { type: 'Mesh', name: 'mesh-2' } } as const;
    expect((await send(one, { ...refused, ...stranger })).statusCode).toBe(401);
    expect(await eventually('user=anonymous&kind=Mesh&mesh=&name=mesh-2')).toMatchObject({
      user: 'anonymous',
      recognizedBy: 'nothing',
      verb: 'put',
      result: 'refused',
      userAgent: 'stranger',
      reason: expect.stringMatching(/^Forbidden: /),
    });
    expect((await send(one, { method: 'GET', url: '/_audit', ...stranger })).statusCode).toBe(401);
    expect(await eventually('user=anonymous&verb=get')).toMatchObject({ activity: 'GET /_audit', result: 'refused' });
    await send(one, {
      method: 'PUT',
      url: '/meshes/mesh-3?dryRun=true',
      payload: { type: 'Mesh', name: 'mesh-3', no: 1 },
    });
    await send(one, { method: 'PUT', url: '/meshes/mesh-4', payload: { type: 'Mesh', name: 'mesh-4', no: 1 } });
    expect(await eventually('kind=Mesh&name=mesh-4')).toMatchObject({
      reason: expect.stringMatching(/^Invalid: 1 field/),
    });
    await send(one, { method: 'DELETE', url: '/meshes/mesh-5' });
    expect(await eventually('kind=Mesh&name=mesh-5')).toMatchObject({
      verb: 'delete',
      reason: expect.stringMatching(/^NotFound/),
    });
    const stale = { ...OPERATOR, 'if-match': '"x.1"' };
    await send(one, {
      method: 'PUT',
      url: '/meshes/default',
      payload: { type: 'Mesh', name: 'default' },
      headers: stale,
    });
    expect(await eventually('kind=Mesh&name=default&result=refused')).toMatchObject({
      reason: expect.stringMatching(/^Conflict/),
    });
    expect(await items('kind=Mesh&name=mesh-3')).toEqual([]);
  });

  it('says which documents of a batch were refused, each by itself', async () => {
    const documents = [
      { type: 'Mesh', name: 'mesh-6' },
      { type: 'Mesh', name: 'mesh-7', no: 1 },
    ];
    const payload = documents.map((one) => JSON.stringify(one)).join('\n');
    const headers = { ...OPERATOR, 'content-type': 'application/x-ndjson' };
    await send(one, { method: 'POST', url: '/_apply?dryRun=true', payload, headers });
    await send(one, { method: 'POST', url: '/_apply', payload, headers });
    expect(await eventually('kind=Mesh&name=mesh-7')).toMatchObject({
      user: 'operator',
      verb: 'put',
      result: 'refused',
      interface: 'REST',
      reason: expect.stringMatching(/^Invalid: 1 field/),
    });
    expect(await items('kind=Mesh&name=mesh-7')).toHaveLength(1);
    expect(await items('kind=Mesh&name=mesh-6')).toMatchObject([{ verb: 'create', result: 'done' }]);
  });

  it('says what was done besides writing, before it is answered', async () => {
    const issued = await send(one, { method: 'POST', url: '/tokens/zone', payload: { zone: 'west', validFor: '1h' } });
    expect(issued.statusCode).toBe(200);
    expect(await items('kind=ZoneToken&size=1')).toMatchObject([
      { verb: 'create', activity: 'issue a zone token', name: 'west', result: 'done', user: 'operator' },
    ]);
    const payload = { name: 'anna', validFor: '1h' };
    const accept = { ...OPERATOR, accept: 'application/json' };
    const { id } = (await send(one, { method: 'POST', url: '/tokens/user', payload, headers: accept })).json();
    await send(one, { method: 'POST', url: '/tokens/user/revocations', payload: { id } });
    expect(await items('kind=UserToken&size=2')).toMatchObject([
      { verb: 'create', activity: 'revoke a user token', name: id, result: 'done', user: 'operator' },
      { verb: 'create', activity: 'issue a user token', name: 'anna', result: 'done', user: 'operator' },
    ]);
    await send(one, { method: 'POST', url: '/_explain/hostname', payload: { hostname: 'a', zone: 'x' } });
    expect((await items('verb=create')).filter(({ activity }) => /explain/.test(activity ?? ''))).toEqual([]);
  });

  it('has each write of both replicas once, in pages', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `many-${n}`);
    await Promise.all(
      names.map((name, n) =>
        send(n % 2 === 0 ? one : two, { method: 'PUT', url: `/meshes/${name}`, payload: { type: 'Mesh', name } }),
      ),
    );
    const seen: string[] = [];
    for (let url: string | null = '/_audit?kind=Mesh&verb=create&size=7'; url !== null;) {
      const page = (await send(two, { method: 'GET', url: url.replace(/^http:\/\/[^/]+/, '') })).json();
      seen.push(...page.items.map(({ name }: { name: string }) => name));
      url = page.next;
    }
    const many = seen.filter((name) => name.startsWith('many-'));
    expect(many.toSorted()).toEqual(names.toSorted());
  });

  it('holds nothing that was secret: values of secrets, tokens that are issued or sent', async () => {
    const drawn = Array.from({ length: 8 }, () => randomBytes(12).toString('hex'));
    const [first = '', second = '', third = '', guess = '', inName = ''] = drawn;
    const encoded = (text: string): string => Buffer.from(text).toString('base64');
    await send(one, secret('drawn', encoded(first)));
    await send(one, secret('drawn', encoded(second)));
    await send(one, secret('drawn', `not base64: ${third}`));
    await send(one, { ...secret('drawn', ''), payload: `{"type":"GlobalSecret","name":"drawn","data":"${third}` });
    await send(one, { ...secret('drawn', ''), payload: { type: 'GlobalSecret', name: 'drawn', [inName]: 1 } });
    await send(one, { ...secret('drawn', encoded(first)), headers: { authorization: `Bearer ${guess}` } });
    await send(one, { method: 'POST', url: '/tokens/zone', payload: { zone: 'east', validFor: '1h' } });
    await eventually('kind=GlobalSecret&name=drawn&user=anonymous');
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ row: string }>('SELECT audit::text AS row FROM audit');
    await client.end();
    const text = rows.map(({ row }) => row).join('\n');
    expect(text).toContain('drawn');
    for (const word of [...drawn, ...drawn.map(encoded), TOKEN, ISSUED]) expect(text).not.toContain(word);
  });

  it('refuses queries that it does not understand', async () => {
    const answer = await send(one, {
      method: 'GET',
      url: '/_audit?result=maybe&since=yesterday&until=2026-13-01T00:00:00Z&cursor=AAAA&size=0&offset=1',
    });
    expect(answer.statusCode).toBe(400);
    expect(
      answer
        .json()
        .invalid_parameters.map(({ field }: { field: string }) => field)
        .toSorted(),
    ).toEqual(['cursor', 'offset', 'result', 'since', 'size', 'until']);
  });
});
