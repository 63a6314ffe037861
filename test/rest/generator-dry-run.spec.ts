import { namingFixture } from './naming-fixture';
import { serviceId, type RestFixture } from './rest-fixture';

const generator = (name: string, template: string) => ({
  type: 'HostnameGenerator',
  name,
  spec: { selector: { meshService: { labels: {} } }, template },
});

describe('dry run of a HostnameGenerator', () => {
  let fixture: RestFixture;

  beforeAll(async () => {
    fixture = await namingFixture();
    await fixture.seed({ id: serviceId('redis') }, { id: serviceId('web') });
  });

  afterAll(() => fixture.close());

  const put = (body: { readonly name: string }, query = '') =>
    fixture.server.inject({ method: 'PUT', url: `/hostnamegenerators/${body.name}${query}`, payload: body });

  it('lists the names it would make, and the collisions it would win and lose; nothing is written', async () => {
    expect((await put(generator('first', '{{ name }}.mesh'))).statusCode).toBe(201);
    const answer = await put(generator('second', 'redis.mesh'), '?dryRun=true');
    expect(answer.statusCode).toBe(201);
    const { names } = answer.json<{ names: readonly { hostname: string; status: string; reason?: string }[] }>();
    expect(names.map(({ hostname, status }) => [hostname, status])).toEqual([
      ['redis.mesh', 'Available'],
      ['redis.mesh', 'NotAvailable'],
    ]);
    expect(names[1]?.reason).toContain('redis');
    expect((await fixture.server.inject({ url: '/hostnamegenerators/second' })).statusCode).toBe(404);
  });

  it('says nothing more when it is written', async () => {
    expect((await put(generator('third', '{{ name }}.third'))).json()).toEqual({});
  });
});
