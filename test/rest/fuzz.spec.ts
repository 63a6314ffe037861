import fc from 'fast-check';
import { stringify } from 'yaml';
import { coreKinds } from '@causeway/kinds';
import type { Kind } from '@causeway/resources';
import { restFixture, ZONE_EAST, type ParsedJson, type RestFixture } from './rest-fixture';

/** Number of requests, half of them to a zone and half to a global. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 1_500);
const KNOWN = new Set([200, 201, 204, 400, 403, 404, 405, 409, 410, 412, 413, 414, 415, 422]);

const kind = fc.constantFrom(...coreKinds.kinds);
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'redis.demo-app', 'a-4cx47v8b5wcd4764') },
  fc.string({ maxLength: 12, unit: 'binary' }),
  fc.constantFrom('..', '__proto__', 'constructor', 'x'.repeat(300), '%', 'a/b', '\u0000', 'ä', 'A'),
);
const junk = fc.oneof(
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text)),
  fc.constantFrom(
    null,
    true,
    0,
    -1,
    1e308,
    '',
    'x'.repeat(5_000),
    [],
    {},
    [[[[[]]]]],
    '\u0000',
    '\ud800',
    '{{ name }}',
    { ['__proto__']: 1 },
  ),
);

const edit = fc.tuple(fc.nat(60), fc.constantFrom('replace', 'remove', 'add'), junk);
// Half of the documents are good: what follows a write is seen by few requests.
const edits = fc.oneof(fc.constant([]), fc.array(edit, { minLength: 1, maxLength: 3 }));

/** A good document with some of its parts replaced, removed or added. */
const documentOf = (of: Kind, called: string): fc.Arbitrary<ParsedJson> =>
  edits.map((some) => some.reduce<ParsedJson>((at, edit) => mutate(at, edit), example(of, called)));
const document = fc.tuple(kind, name).chain(([of, called]) => documentOf(of, called));

const body = fc.oneof(
  { weight: 6, arbitrary: document.map((value) => JSON.stringify(value) ?? '') },
  { weight: 2, arbitrary: document.map((value) => stringify(value)) },
  junk.map((value) => JSON.stringify(value) ?? ''),
  fc.string({ maxLength: 60 }),
  fc.constantFrom('', '{', '- - - -', 'a: &a [*a]', '['.repeat(2_000), '"\\ud800"', '\ufeff{}', '{"a":1}{"b":2}'),
);

const type = fc.constantFrom(
  'application/json',
  'application/yaml',
  'application/merge-patch+json',
  'text/html',
  '',
  'application/json; charset=x',
  ';;',
);
const parameter = fc.tuple(
  fc.constantFrom(
    'size',
    'offset',
    'cursor',
    'name',
    'zone',
    'namespace',
    'labelSelector',
    'filter[labels.a]',
    'filter[',
    'format',
    'dryRun',
    'since',
    '__proto__',
    'x',
  ),
  fc.oneof(
    fc.constantFrom('', '1', '-1', 'a', 'true', 'a in (b)', 'a=b,!c', '((', 'W10', 'east'),
    fc.string({ maxLength: 8 }),
  ),
);

const path = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(kind, name)
      .map(([of, called]) => `${of.scope === 'mesh' ? '/meshes/default' : ''}/${of.plural}/${encode(called)}`),
  },
  { weight: 2, arbitrary: kind.map((of) => `/${of.plural}`) },
  fc.tuple(name, kind, name).map(([mesh, of, called]) => `/meshes/${encode(mesh)}/${of.plural}/${encode(called)}`),
  fc
    .tuple(kind, name, fc.constantFrom('_hostnames', '_dataplanes', '_overview', '_resources/dataplanes'))
    .map(([of, called, tail]) => `/meshes/default/${of.plural}/${encode(called)}/${tail}`),
  name.map((text) => `/_kri/${encode(text)}`),
  fc.constantFrom(
    '/',
    '//',
    '/_explain/hostname',
    '/_resolve/hostname',
    '/meshes/default/_explain',
    '/meshes/default/_routes',
    '/meshes/default/_policies',
    '/meshes/default/topology',
    '/zones+insights',
    '/meshes/default/hostnames',
    '/_kri/kri_msvc_default_east__a_',
    '/%',
    '/%c0%af',
    '/config/',
  ),
  fc.string({ maxLength: 30 }).map((text) => `/${encodeURI(text.replaceAll('\ud800', ''))}`),
);

const method = fc.constantFrom('GET', 'PUT', 'PUT', 'PUT', 'PATCH', 'DELETE', 'POST', 'HEAD', 'OPTIONS');
const query = fc.array(parameter, { maxLength: 2 });
const ifMatch = fc.constantFrom(undefined, undefined, '*', '"x.1"', 'junk');

/** Requests whose path and body fit together more or less. */
const aimed = fc.tuple(kind, fc.constantFrom('a', 'b', 'redis.demo-app')).chain(([of, called]) => {
  const place = `${of.scope === 'mesh' ? '/meshes/default' : ''}/${of.plural}/${called}`;
  const sent = documentOf(of, called);
  const json = sent.map((value) => JSON.stringify(value) ?? '');
  const yaml = sent.map((value) => stringify(value));
  const dry = fc.constantFrom<[string, string][]>([], [], [], [['dryRun', 'true']]);
  return fc.oneof(
    fc.record({
      method,
      path: fc.constant(place),
      body: json,
      type: fc.constant('application/json'),
      query: dry,
      ifMatch,
    }),
    fc.record({
      method,
      path: fc.constant(place),
      body: yaml,
      type: fc.constant('application/yaml'),
      query: dry,
      ifMatch,
    }),
  );
});

const request = fc.oneof(
  { weight: 3, arbitrary: aimed },
  { weight: 2, arbitrary: fc.record({ method, path, body, type, query, ifMatch }) },
);

describe.each([
  ['zone', ZONE_EAST],
  ['global', { role: 'global' } as const],
])('whatever is sent to a %s', (_role, cp) => {
  let rest: RestFixture;
  beforeAll(async () => {
    rest = await restFixture({
      cp,
      insights: { explainHostname: () => ({ hostname: '', mesh: '', zone: '', claims: [], hints: [] }) },
    });
  });
  afterAll(() => rest.close());

  it(`is answered, and never with a server error (${RUNS / 2} requests)`, async () => {
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(
        request,
        async ({ method: verb, path: at, body: payload, type: sent, query: asked, ifMatch: tag }) => {
          const search = new URLSearchParams(
            asked.map(([key, value]): [string, string] => [key, wellFormed(value)]),
          ).toString();
          const bodyless = verb === 'GET' || verb === 'HEAD' || verb === 'OPTIONS';
          const headers = {
            ...(sent === '' ? {} : { 'content-type': sent }),
            ...(tag === undefined ? {} : { 'if-match': tag }),
          };
          const answer = await rest.server.inject({
            method: verb,
            url: search === '' ? at : `${at}?${search}`,
            headers,
            ...(bodyless ? {} : { payload }),
          });
          seen.set(answer.statusCode, (seen.get(answer.statusCode) ?? 0) + 1);
          expect([...KNOWN]).toContain(answer.statusCode);
          if (answer.statusCode < 400) return;
          expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
          if (verb !== 'HEAD')
            expect(answer.json()).toMatchObject({ status: answer.statusCode, title: expect.any(String) });
        },
      ),
      { numRuns: RUNS / 2 },
    );
    expect([...seen.values()].reduce((sum, count) => sum + count, 0)).toBe(
      (RUNS / 2) * Number(process.env['CAUSEWAY_FUZZ_TIMES'] ?? 1),
    );
    // The generators must reach their targets: writes that succeed, and each of the usual refusals.
    expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 403, 404, 405, 412, 415, 422]));
  }, 600_000);
});

function example(of: Kind, called: string): ParsedJson {
  const [spec] = (of.spec as ParsedJson).examples;
  return {
    type: of.name,
    ...(of.scope === 'mesh' ? { mesh: 'default' } : {}),
    name: called,
    labels: { team: 'db' },
    spec: structuredClone(spec),
  };
}

function mutate(root: ParsedJson, [where, how, value]: [number, string, ParsedJson]): ParsedJson {
  const copy = structuredClone(root);
  const places: [ParsedJson, string | number][] = [];
  const visit = (node: ParsedJson): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      places.push([node, key]);
      visit(node[key]);
    }
  };
  visit(copy);
  const place = places[where % Math.max(places.length, 1)];
  if (!place) return value;
  const [node, key] = place;
  if (how === 'remove') delete node[key];
  else node[how === 'add' ? `${key}x` : key] = value;
  return copy;
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '');
}

function encode(text: string): string {
  return encodeURIComponent(wellFormed(text));
}
