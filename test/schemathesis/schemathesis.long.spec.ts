import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreKinds } from '@causeway/kinds';
import type { ControlPlane, Kind } from '@causeway/resources';
import { fuzzSeed } from '../support/fuzz-seed';
import { namingFixture } from '../rest/naming-fixture';
import { ZONE_EAST } from '../rest/rest-fixture';

/** Path of `st`: test/schemathesis/install.sh prints it. */
const PROGRAM = process.env['SCHEMATHESIS'];
const EXAMPLES = process.env['SCHEMATHESIS_EXAMPLES'] ?? '5';
const SEED = process.env['SCHEMATHESIS_SEED'] ?? String(fuzzSeed('schemathesis'));

/** A run takes one of both control planes, and one kind of so many, by its seed; test/schemathesis/run.sh takes all. */
const IS_WHOLE = process.env['SCHEMATHESIS_KINDS'] === 'all';
const ONE_OF = IS_WHOLE ? 1 : 12;

/** A token of an administrator: a refusal for lack of a role tests nothing else. */
const TOKEN = 'schemathesis';

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
  'allow_header_conformance',
];

/** Everything that is generated follows from the seed, so a run that failed fails again. */
const FIXED = ['--seed', SEED, '--generation-database', 'none', '--workers', '1', '--no-shrink', '--no-color'];

function run(url: string, tags: readonly string[], folder: string): Promise<{ code: number | null; output: string }> {
  const what = ['run', `${url}/openapi.json`, '--phases', 'examples,coverage,fuzzing', '--checks', CHECKS.join(',')];
  // A busy machine is no failure; a request that is never answered is.
  const amount = [
    '--request-timeout',
    '120',
    '--max-examples',
    EXAMPLES,
    ...tags.flatMap((tag) => ['--include-tag', tag]),
  ];
  return new Promise((resolve, reject) => {
    const env = { ...process.env, PYTHONPATH: __dirname, PYTHONDONTWRITEBYTECODE: '1', SCHEMATHESIS_HOOKS: 'hooks' };
    const caller = ['--header', `Authorization: Bearer ${TOKEN}`];
    const child = spawn(PROGRAM ?? 'st', [...what, ...amount, ...caller, ...FIXED], { cwd: folder, env });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

function inZone({ sync }: Kind): boolean {
  return sync.writtenOn.includes('zone');
}

function drawn(kinds: readonly Kind[]): readonly Kind[] {
  return kinds.filter((_, at) => (at + Number(SEED)) % ONE_OF === 0);
}

/** Kinds and the control planes that may write them: a refusal for the wrong control plane tests nothing of the body. */
const CASES: [string, ControlPlane, readonly Kind[]][] = [
  ['zone', ZONE_EAST, drawn(coreKinds.kinds.filter(inZone))],
  ['global', { role: 'global' }, drawn(coreKinds.kinds.filter((kind) => !inZone(kind)))],
];
const DRAWN = IS_WHOLE ? CASES : CASES.filter((_, at) => at === Number(SEED) % CASES.length);

describe('schemathesis (test/schemathesis/install.sh)', () => {
  it('is never left out in CI', () => {
    const missing = process.env['CI'] !== undefined && PROGRAM === undefined;
    expect(missing ? 'set SCHEMATHESIS to what test/schemathesis/install.sh prints' : 'run').toBe('run');
  });

  (PROGRAM === undefined ? it.skip : it).each(DRAWN)(
    'finds nothing on a %s that the document does not describe',
    async (_role, cp, kinds) => {
      const rest = await namingFixture(cp, { limits: { watchTime: 5 }, access: { operatorToken: TOKEN } });
      const folder = mkdtempSync(join(tmpdir(), 'causeway-schemathesis-'));
      try {
        const port = await rest.server.listen('127.0.0.1', 0);
        const tags = ['Server', ...kinds.map((kind) => kind.name)];
        const { code, output } = await run(`http://127.0.0.1:${port}`, tags, folder);
        // Generated values can be long; the fault is at the start of a line.
        const shown = output.split('\n').map((line) => line.slice(0, 500));
        if (code !== 0) throw new Error(shown.join('\n'));
      } finally {
        rmSync(folder, { recursive: true, force: true });
        await rest.close();
      }
    },
    1_200_000,
  );
});
