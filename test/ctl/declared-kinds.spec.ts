import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { globalIdentity } from '@causeway/resources';
import { restFixture, type RestFixture } from '../rest/rest-fixture';
import { runCauseway, type Ran } from './run-causeway';

const DEFINITION = `
type: MetaresourceDefinition
name: paintpolicies.a.io
spec:
  group: a.io
  kind: PaintPolicy
  plural: paintpolicies
  shortName: pp
  hierarchy: [Namespace, Service]
  declaredTargets: [{kind: Namespace, semantics: paints all of it}]
  effectiveTarget: {level: Service, semantics: is painted}
  schema: {type: object, properties: {colour: {type: string}}}
`;
const POLICY = `
type: PaintPolicy
mesh: default
name: all
spec: {targetRef: {name: default}, colour: red}
`;

describe('kinds that the control plane declares, as nouns of the command line', () => {
  let fixture: RestFixture;
  let server: string;
  let folder: string;

  beforeAll(async () => {
    fixture = await restFixture({ cp: { role: 'global' } });
    server = `http://127.0.0.1:${await fixture.server.listen('127.0.0.1', 0)}`;
    folder = mkdtempSync(join(tmpdir(), 'causeway-kinds-'));
    writeFileSync(join(folder, 'policy.yaml'), POLICY);
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await fixture.close();
  });

  const causeway = (args: readonly string[], stdin = ''): Promise<Ran> => runCauseway(server, args, stdin);

  it('are known from the moment of their definition until it goes', async () => {
    expect(await causeway(['get', 'paintpolicies'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('"paintpolicies" is no kind'),
    });
    expect(await causeway(['apply', '-f', '-'], DEFINITION)).toMatchObject({ code: 0 });
    expect(await causeway(['apply', '-f', join(folder, 'policy.yaml')])).toMatchObject({ code: 0 });
    for (const noun of ['paintpolicies', 'pp', 'PaintPolicy', 'msvc,pp']) {
      const { code, out } = await causeway(['get', noun]);
      expect([noun, code, /all +Namespace default/.test(out)]).toEqual([noun, 0, true]);
    }
    expect((await causeway(['describe', 'pp/all'])).out).toContain('colour: red');
    expect((await causeway(['get', 'paintpolicys'])).err).toContain('did you mean paintpolicies?');
    expect(await causeway(['delete', '-f', join(folder, 'policy.yaml'), '--yes'])).toMatchObject({ code: 0 });
    expect(await causeway(['delete', 'mrd/paintpolicies.a.io', '--yes'])).toMatchObject({ code: 0 });
    expect(await causeway(['get', 'pp'])).toMatchObject({ code: 2 });
  });

  it('come and go with their resources by one file: the definition stands first, and goes last', async () => {
    const file = join(folder, 'both.yaml');
    writeFileSync(file, `${DEFINITION}---${POLICY}`);
    const dry = await causeway(['apply', '--dry-run', '-f', file]);
    expect([dry.code, dry.err]).toEqual([0, '']);
    for (const flags of [[], ['--atomic']]) {
      expect(await causeway(['apply', ...flags, '-f', file])).toMatchObject({ code: 0, err: '' });
      expect((await causeway(['get', 'pp'])).out).toContain('all');
      const kept = await causeway(['delete', 'mrd/paintpolicies.a.io', '--yes']);
      expect([kept.code, kept.err]).toEqual([1, expect.stringContaining('1 resource of kind PaintPolicy exists')]);
      const gone = await causeway(['delete', '-f', file, '--yes']);
      expect([gone.code, gone.out.trimEnd().split('\n')]).toEqual([
        0,
        [
          expect.stringMatching(/^PaintPolicy.*all deleted$/),
          expect.stringMatching(/^MetaresourceDefinition.* deleted$/),
        ],
      ]);
    }
    const again = await causeway(['delete', '-f', file, '--yes', '--ignore-not-found']);
    expect([again.code, again.err]).toEqual([0, '']);
  });

  it('that control planes bring are not changed or deleted, and say why', async () => {
    const policy = shippedPolicies.find(({ kind }) => kind === 'TimeoutPolicy');
    if (!policy) throw new Error('no TimeoutPolicy');
    const name = shippedDefinitionName(policy);
    const spec = shippedDefinition(policy);
    await fixture.seed({ id: globalIdentity('MetaresourceDefinition', name), spec });
    const why = `MetaresourceDefinition "${name}" is brought by the control plane and changes with its version; declare a kind of another group instead`;
    const gone = await causeway(['delete', `mrd/${name}`, '--yes']);
    expect([gone.code, gone.err]).toEqual([1, expect.stringContaining(why)]);
    const changed = { type: 'MetaresourceDefinition', name, spec: { ...spec, description: 'mine' } };
    for (const command of [['apply'], ['diff']]) {
      const ran = await causeway([...command, '-f', '-'], JSON.stringify(changed));
      expect([ran.code, ran.err]).toEqual([expect.any(Number), expect.stringContaining(why)]);
      expect(ran.code).not.toBe(0);
    }
  });
});
