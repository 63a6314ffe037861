import { namingInsights } from '@causeway/control-plane';
import { HostnameExplainer } from '@causeway/controllers';
import type { ResourceIndex } from '@causeway/store';
import { restFixture, serviceId, ZONE_EAST, type RestFixture } from './rest-fixture';

const generator = (name: string, template: string) => ({
  type: 'HostnameGenerator',
  name,
  spec: { selector: { meshService: { labels: {} } }, template },
});

describe('dry run of a HostnameGenerator', () => {
  let fixture: RestFixture;
  let explainer: HostnameExplainer;

  beforeAll(async () => {
    let index: ResourceIndex | undefined;
    const late = () => {
      if (index === undefined) throw new Error('the fixture is not there yet');
      return (explainer ??= new HostnameExplainer(index, ZONE_EAST));
    };
    fixture = await restFixture({
      insights: { consequences: (draft) => namingInsights({ cp: ZONE_EAST }, late()).consequences?.(draft) },
    });
    index = fixture.index;
    await fixture.seed({ id: serviceId('redis') }, { id: serviceId('web') });
  });

  afterAll(async () => {
    explainer.close();
    await fixture.close();
  });

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
