import { refuseLookup, restFixture, type ParsedJson, type RestFixture } from './rest-fixture';

describe('GET /_dns/lookup', () => {
  let rest: RestFixture;
  const lookup = async (query: string): Promise<[number, ParsedJson]> => {
    const answer = await rest.server.inject({ url: `/_dns/lookup${query}` });
    return [answer.statusCode, answer.json()];
  };
  afterEach(() => rest.close());

  it('hands the question on and shows the answer as it is', async () => {
    rest = await restFixture({ insights: { dnsLookup: refuseLookup } });
    expect(await lookup('?name=redis.svc.mesh.local')).toEqual([200, refuseLookup({ name: 'redis.svc.mesh.local' })]);
    expect(await lookup('?name=a.b&type=srv')).toEqual([200, refuseLookup({ name: 'a.b', type: 'srv' })]);
    for (const query of ['', '?name=', '?name=a&nme=b']) expect((await lookup(query))[0]).toBe(400);
  });

  it('is not there on a control plane without DNS', async () => {
    rest = await restFixture();
    expect(await lookup('?name=a.b')).toEqual([
      404,
      expect.objectContaining({ detail: expect.stringContaining('DNS') }),
    ]);
  });
});
