import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { restFixture, serviceId, ZONE_EAST, type ParsedJson, type RestFixture } from './rest-fixture';

const INPUT = join(__dirname, 'testdata', 'errors.input.yaml');
const GOLDEN = join(__dirname, 'testdata', 'errors.golden.yaml');

interface Bad {
  readonly name: string;
  readonly cp?: 'global' | 'zone';
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly type?: string;
  readonly body?: string;
  readonly ifMatch?: string;
}

describe('what the operator is told of a bad request', () => {
  const fixtures: Record<string, RestFixture> = {};
  const told: Record<string, ParsedJson> = {};
  const cases = parse(readFileSync(INPUT, 'utf8')) as Bad[];

  beforeAll(async () => {
    fixtures['zone'] = await restFixture({
      cp: ZONE_EAST,
      insights: { explainHostname: () => ({ hostname: '', mesh: '', zone: '', claims: [], hints: [] }) },
    });
    fixtures['global'] = await restFixture({ cp: { role: 'global' } });
    const spec = { ports: [{ port: 1, appProtocol: 'tcp' }] };
    await fixtures['zone'].seed({ id: serviceId('own'), spec }, { id: serviceId('foreign', 'west'), spec });
    await fixtures['global'].seed({ id: serviceId('redis', 'east'), spec });
  });
  afterAll(async () => {
    await Promise.all(Object.values(fixtures).map((fixture) => fixture.close()));
  });

  it.each(cases)('$name', async ({ name, cp = 'zone', method, url, type, body, ifMatch }) => {
    const rest = fixtures[cp];
    if (!rest) throw new Error(cp);
    const before = rest.index.point?.revision;
    const headers = {
      ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    };
    const answer = await rest.server.inject({ method, url, headers, ...(body === undefined ? {} : { payload: body }) });
    const { instance, ...problem } = answer.json();
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(instance).toMatch(/^urn:uuid:/);
    expect([answer.statusCode >= 400 && answer.statusCode < 500, problem.status]).toEqual([true, answer.statusCode]);
    expect((await rest.store.head()).revision).toBe(before);
    const uid = (await rest.store.get(serviceId('own')))?.uid ?? 'no uid';
    told[name] = JSON.parse(JSON.stringify(problem).replaceAll(uid, 'UID'));
  });

  it('is as reviewed', () => {
    const text = stringify(told, { lineWidth: 0 });
    if (process.env['UPDATE_GOLDEN']) writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, 'utf8'));
  });
});
