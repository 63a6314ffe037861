import { plainTokens } from '../support/rest-access';
import { restFixture, type FixtureOptions, type ParsedJson, type RestFixture } from './rest-fixture';

const paints = (schema: object = { colour: { type: 'string', enum: ['red', 'blue'] } }, more: object = {}) => ({
  type: 'MetaresourceDefinition',
  name: 'paintpolicies.policies.example.com',
  spec: {
    group: 'policies.example.com',
    kind: 'PaintPolicy',
    plural: 'paintpolicies',
    hierarchy: 'mesh',
    declaredTargets: [{ kind: 'Namespace', semantics: 'paints the requests to services of the namespace' }],
    effectiveTarget: { level: 'Rule', semantics: 'paints the requests that match the rule' },
    schema: { type: 'object', properties: schema },
    ...more,
  },
});
const policy = (name: string, intent: object = { colour: 'red' }) => ({
  type: 'PaintPolicy',
  mesh: 'default',
  name,
  spec: { targetRefs: [{ kind: 'Namespace', name: 'default' }], ...intent },
});

describe('a batch with a definition', () => {
  let rest: RestFixture;
  const open = async (options: FixtureOptions = {}): Promise<void> => {
    rest = await restFixture({ cp: { role: 'global' }, ...options });
  };
  afterEach(() => rest.close());

  async function apply(documents: readonly object[], query = '', token?: string): Promise<readonly ParsedJson[]> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const request = { method: 'POST', url: `/_apply${query}`, payload: documents, headers } as const;
    const lines = (await rest.server.inject(request)).body.trimEnd().split('\n');
    return lines.map((line): ParsedJson => JSON.parse(line)).filter((line) => 'index' in line);
  }
  const outcomes = (results: readonly ParsedJson[]): unknown[] => results.map(({ outcome }) => outcome);
  const faults = ({ status, invalid_parameters: faults = [] }: ParsedJson): unknown[] => [
    status,
    ...faults.map(({ field, reason }: ParsedJson) => `${field} ${reason}`),
  ];
  const stored = (): readonly string[] => [...rest.index.ofKind('PaintPolicy')].map(({ id }) => id.name).sort();
  const unknown = [422, expect.stringMatching(/^type is not a kind known here; got "PaintPolicy"/)];

  it.each(['', '?atomic=true'])('counts for the documents behind it, not before it%s', async (query) => {
    await open();
    const behind = await apply([paints(), policy('a'), policy('b', { colour: 'green' })], query);
    expect(faults(behind[2])).toEqual([422, expect.stringMatching(/^spec.colour .*green/)]);
    if (query !== '') {
      expect(outcomes(behind)).toEqual(['skipped', 'skipped', 'refused']);
      expect(outcomes(await apply([paints(), policy('a')], query))).toEqual(['created', 'created']);
    } else expect(outcomes(behind)).toEqual(['created', 'created', 'refused']);
    expect(stored()).toEqual(['a']);
    expect(outcomes(await apply([paints(), policy('a')], query))).toEqual(['unchanged', 'unchanged']);
    const other = { ...paints(), name: 'x', spec: { ...paints().spec, kind: 'XPolicy', plural: 'xpolicies' } };
    const before = await apply([{ ...policy('x'), type: 'XPolicy' }, other], query);
    expect(outcomes(before)).toEqual(['refused', query === '' ? 'created' : 'skipped']);
  });

  it('that changes it judges by the old one what is before it, by the new one what is behind it', async () => {
    await open();
    await apply([paints(), policy('old')]);
    const shade = { shade: { type: 'integer' } };
    const results = await apply([policy('a'), paints(shade), policy('b', { shade: 3 }), policy('c')]);
    expect(outcomes(results)).toEqual(['created', 'updated', 'created', 'refused']);
    expect(faults(results[3])).toEqual([422, expect.stringMatching(/^spec.colour /)]);
    expect(results[1].warnings).toEqual([expect.stringMatching(/^1 stored PaintPolicy resources do not fit/)]);
  });

  it('says on a dry run what would become of both, and writes nothing', async () => {
    await open();
    const results = await apply([paints(), policy('a')], '?dryRun=true');
    expect(outcomes(results)).toEqual(['created', 'created']);
    expect(results[1].diff.after).toMatchObject({ type: 'PaintPolicy', name: 'a', spec: { colour: 'red' } });
    expect([stored(), rest.index.countKind('MetaresourceDefinition')]).toEqual([[], 0]);
  });

  it.each<[string, object]>([
    ['breaks a rule', paints({ targetRefs: { type: 'string' } })],
    ['has the group of what is shipped', paints({}, { group: 'policies.causeway.io' })],
    ['has the name of another kind', paints({}, { kind: 'HTTPRoute' })],
  ])('that %s refuses it and the documents that need it, and no others', async (_, definition) => {
    await open();
    const namespace = { type: 'Namespace', name: 'shop', spec: {} };
    const results = await apply([definition, policy('a'), namespace]);
    expect(outcomes(results)).toEqual(['refused', 'refused', 'created']);
    expect(faults(results[1])).toEqual(unknown);
  });

  it('that another one beats declares nothing for the documents behind it', async () => {
    await open();
    await apply([paints()]);
    const late = { ...paints(), name: 'late', spec: { ...paints().spec, kind: 'LatePolicy' } };
    const results = await apply([late, { ...policy('a'), type: 'LatePolicy' }, policy('b')]);
    expect(outcomes(results)).toEqual(['created', 'refused', 'created']);
    const taken =
      'declares no kind: "paintpolicies" is taken by the MetaresourceDefinition paintpolicies.policies.example.com';
    expect(results[0].warnings).toEqual([taken]);
  });

  it('needs the rights of each document: those of its writer for a kind that nobody knows yet', async () => {
    const access = { verifiers: [plainTokens] };
    await open({ access });
    const bind = (name: string, role: string) => ({
      id: { kind: 'RoleBinding', mesh: '', zone: '', namespace: '', name },
      spec: { role, subjects: [{ kind: 'User', name }] },
    });
    await rest.seed(bind('olga', 'mesh-operator'), bind('anna', 'service-owner'));
    expect((await apply([paints(), policy('a')], '', 'anna:')).map(({ status }) => status)).toEqual([403, 422]);
    expect(stored()).toEqual([]);
    expect(outcomes(await apply([paints({}, { writer: 'operator' }), policy('a', {})], '', 'olga:'))).toEqual([
      'created',
      'refused',
    ]);
    expect((await apply([policy('a')], '', 'anna:')).map(({ status }) => status)).toEqual([403]);
    const second = { ...paints(), name: 'b', spec: { ...paints().spec, kind: 'XPolicy', plural: 'xpolicies' } };
    expect(outcomes(await apply([second, { ...policy('a'), type: 'XPolicy' }], '', 'olga:'))).toEqual([
      'created',
      'created',
    ]);
  });

  it('has 128 definitions at most that count for the documents behind them', async () => {
    await open();
    const nth = (n: number) => ({
      ...paints(),
      name: `d${n}`,
      spec: { ...paints().spec, kind: `P${n}`, plural: `p${n}s` },
    });
    const of = (n: number) => ({ ...policy('a'), type: `P${n}` });
    const results = await apply(Array.from({ length: 129 }, (_, n) => [nth(n), of(n)]).flat());
    expect(new Set(outcomes(results.slice(0, -1)))).toEqual(new Set(['created']));
    expect(faults(results.at(-1))).toEqual([422, expect.stringMatching(/^type is not a kind known here/)]);
  });
});
