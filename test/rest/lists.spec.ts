import { restFixture, serviceId, type ParsedJson, type RestFixture } from './rest-fixture';

describe('lists', () => {
  let rest: RestFixture;
  beforeAll(async () => {
    rest = await restFixture({ access: { operatorToken: 'secret' } });
    await rest.seed(
      { id: serviceId('redis'), labels: { team: 'db', tier: '1' } },
      { id: serviceId('redis', 'west'), labels: { team: 'db' } },
      { id: { ...serviceId('redis'), namespace: 'shop' }, labels: { team: 'shop', 'k8s.kuma.io/namespace': 'shop' } },
      { id: serviceId('web'), labels: { team: 'web' } },
      { id: { ...serviceId('api'), mesh: 'other' }, labels: {} },
    );
  });
  afterAll(() => rest.close());

  const get = async (url: string): Promise<{ status: number; body: ParsedJson }> => {
    const answer = await rest.server.inject({ url, headers: { host: 'cp:5681', authorization: 'Bearer secret' } });
    return { status: answer.statusCode, body: answer.json() };
  };
  const places = (body: ParsedJson): string[] =>
    body.items.map((item: ParsedJson) =>
      [item.mesh, item.name, item.labels['kuma.io/zone'] ?? '', item.namespace].join('/'),
    );

  it('are sorted by mesh, name, zone, namespace', async () => {
    const { body } = await get('/meshservices');
    expect(places(body)).toEqual([
      'default/redis/east/default',
      'default/redis/east/shop',
      'default/redis/west/default',
      'default/web/east/default',
      'other/api/east/default',
    ]);
  });

  it.each([
    ['', 4],
    ['?name=edi', 3],
    ['?name=Redis', 0],
    ['?zone=west', 1],
    ['?zone=', 0],
    ['?namespace=shop', 1],
    ['?filter[labels.team]=db', 2],
    ['?filter%5Blabels.team%5D=db&filter[labels.tier]=1', 1],
    ['?filter[labels.k8s.kuma.io/namespace]=default', 3],
    ['?labelSelector=team%3Ddb', 2],
    ['?labelSelector=team!%3Ddb', 2],
    ['?labelSelector=team in (db, web),!tier', 2],
    ['?labelSelector=tier', 1],
    ['?labelSelector=team notin (db,shop)', 1],
    ['?labelSelector=', 4],
  ])('%s selects %i', async (query, total) => {
    const { status, body } = await get(`/meshes/default/meshservices${query}`);
    expect([status, body.total, body.items.length]).toEqual([200, total, total]);
  });

  it('go on with offset, keeping the query', async () => {
    const first = await get('/meshservices?size=2&name=e');
    expect(first.body.next).toBe('http://cp:5681/meshservices?name=e&offset=2&size=2');
    const second = await get('/meshservices?name=e&offset=2&size=2');
    expect([second.body.total, second.body.items.length, second.body.next]).toEqual([4, 2, null]);
    expect((await get('/meshservices?offset=99')).body).toEqual({ total: 5, items: [], next: null });
  });

  it('show the Kubernetes form as asked, without values of secrets', async () => {
    const { body } = await get('/meshservices?size=1&format=k8s');
    expect(body.items[0]).toMatchObject({ kind: 'MeshService', metadata: { name: 'redis', namespace: 'default' } });
    expect(body.next).toBe('http://cp:5681/meshservices?format=k8s&offset=1&size=1');
    const secret = { kind: 'Secret', mesh: 'default', zone: 'east', namespace: '', name: 'key' };
    await rest.seed({ id: secret, spec: { data: 'c2VjcmV0' } });
    const secrets = await get('/secrets?format=k8s');
    expect(secrets.body.items[0]).toMatchObject({ kind: 'Secret', metadata: { name: 'key' } });
    expect(JSON.stringify(secrets.body)).not.toContain('c2VjcmV0');
    expect((await get('/meshservices?format=xml')).status).toBe(400);
  });

  it('go on with a cursor that stays right while resources come and go', async () => {
    const seen: string[] = [];
    let url = '/meshservices?size=2&cursor=';
    for (let page = 0; url !== ''; page++) {
      const { body } = await get(url);
      seen.push(...places(body));
      url = body.next === null ? '' : body.next.slice('http://cp:5681'.length);
      if (page === 0) await rest.seed({ id: serviceId('aaa') });
    }
    expect(seen).toHaveLength(5);
    expect(new Set(seen.filter((place) => place.includes('aaa'))).size).toBe(0);
    await rest.store.write({ changes: [{ type: 'delete', id: serviceId('aaa'), expect: 'any' }], onRefusal: 'abort' });
  });

  it.each([
    ['?size=0', 'size', 'must be a whole number from 1 to 1000; got "0"'],
    ['?size=2000', 'size', 'must be a whole number from 1 to 1000; got "2000"'],
    ['?size=ten', 'size', 'must be a whole number from 1 to 1000; got "ten"'],
    ['?offset=-1', 'offset', 'must be a whole number of at least 0; got "-1"'],
    ['?size=1&size=2', 'size', 'is given more than once'],
    ['?cursor=x', 'cursor', 'was not made by this server; take it from "next" of the page before'],
    ['?cursor=&offset=1', 'cursor', 'cannot be given together with offset'],
    ['?nmae=x', 'nmae', 'is not a known query parameter; did you mean "name"?'],
    ['?filter[team]=x', 'filter[team]', 'must be written filter[labels.KEY]=value: filters are on labels only'],
    ['?filter[labels.a=x', 'filter[labels.a', 'must be written filter[labels.KEY]=value: filters are on labels only'],
    ['?labelSelector=a in', 'labelSelector', expect.stringContaining('must be like')],
    ['?labelSelector=a=b=c', 'labelSelector', expect.stringContaining('must be like')],
    ['?since=3', 'since', 'is for a watch; add watch=true'],
    ['?watch=yes', 'watch', 'must be true or false; got "yes"'],
    ['?minRevision=-1', 'minRevision', 'must be a whole number of at least 0; got "-1"'],
    [
      `?${Array.from({ length: 21 }, (_, i) => `filter[labels.k${i}]=v`).join('&')}`,
      'filter',
      'may be given at most 20 times; got 21',
    ],
  ])('%s is refused', async (query, field, reason) => {
    const { status, body } = await get(`/meshes/default/meshservices${query}`);
    expect([status, body.invalid_parameters]).toMatchObject([400, [{ field, reason }]]);
  });

  it('end a page early where its resources are large, and lose none', async () => {
    const large = Array.from({ length: 12 }, (_, i) => `large-${String(i).padStart(2, '0')}`);
    await rest.seed(...large.map((name) => ({ id: serviceId(name), labels: { filler: 'x'.repeat(900_000) } })));
    for (const begin of ['cursor=', 'offset=0']) {
      const seen: string[] = [];
      let next: string | null = `/meshes/default/meshservices?name=large-&size=1000&${begin}`;
      let pages = 0;
      for (; next !== null; pages++) {
        const answer = await rest.server.inject({ url: next });
        expect(answer.body.length).toBeLessThan(5_000_000);
        const { total, items, next: following } = answer.json();
        expect(total).toBe(12);
        seen.push(...items.map(({ name }: { name: string }) => name));
        next = following;
      }
      expect([seen, pages]).toEqual([large, 3]);
    }
  });

  it('repeat no more than a little of what was sent', async () => {
    for (const query of ['nonsense', 'size', 'labelSelector', 'name', 'filter[labels.a]', 'format', 'since']) {
      const { status, body } = await get(`/meshes/default/meshservices?${query}=${'x'.repeat(3_000)}${'&'.repeat(5)}`);
      expect([query, status]).toEqual([query, query.startsWith('filter') ? 200 : 400]);
      expect(JSON.stringify(body).length).toBeLessThan(1_200);
    }
  });

  it('refuse what makes no sense for the kind', async () => {
    expect((await get('/meshes?namespace=x')).status).toBe(400);
  });

  it('wait for a revision that this replica has not seen', async () => {
    const behind = await restFixture();
    try {
      const write = await behind.store.write({
        changes: [{ type: 'put', id: serviceId('late'), expect: 'any', labels: {}, spec: {} }],
        onRefusal: 'abort',
      });
      const list = await behind.server.inject({ url: `/meshservices?minRevision=${write.revision}` });
      expect(list.json()).toMatchObject({ total: 1 });
      const never = await behind.server.inject({ url: `/meshservices?minRevision=${write.revision + 1}` });
      expect([never.statusCode, never.json().detail]).toEqual([
        400,
        `There is no revision ${write.revision + 1} yet; the newest is ${write.revision}.`,
      ]);
    } finally {
      await behind.close();
    }
  });
});
