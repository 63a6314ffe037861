import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { restFixture, type RestFixture } from '../rest/rest-fixture';

const REPO = resolve(__dirname, '..', '..');
const run = promisify(execFile);
const bin = (name: string): string => join(REPO, 'node_modules', '.bin', name);
/** The native compiler takes a tenth of the time. */
const COMPILER = join(REPO, 'node_modules', 'typescript7', 'bin', 'tsc');

/** A folder in which imports find this repository's packages; removed afterwards. */
function workFolder(): string {
  const parent = join(REPO, 'node_modules', '.cache');
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, 'client-'));
}

describe('a client that openapi-typescript generates from /openapi.json', () => {
  let rest: RestFixture;
  let base: string;
  const folder = workFolder();
  const client = join(folder, 'client.ts');

  beforeAll(async () => {
    rest = await restFixture({ access: { operatorToken: 'client' } });
    base = `http://127.0.0.1:${await rest.server.listen('127.0.0.1', 0)}`;
    const document = join(folder, 'openapi.json');
    writeFileSync(document, await (await fetch(`${base}/openapi.json`)).text());
    await run(bin('openapi-typescript'), [document, '--default-non-nullable', 'false', '-o', join(folder, 'api.ts')]);
    copyFileSync(join(__dirname, 'testdata', 'client.ts.txt'), client);
  });
  afterAll(async () => {
    await rest.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is typed as the program that uses it expects', async () => {
    const options = [
      '--ignoreConfig',
      '--strict',
      '--noEmit',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--types',
      'node',
    ];
    const { stdout } = await run(process.execPath, [COMPILER, ...options, client], { cwd: folder }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  it('creates, reads, lists, is refused with fields, and deletes', async () => {
    const program = join(folder, 'client.js');
    await run(bin('esbuild'), [client, '--bundle', '--platform=node', `--outfile=${program}`]);
    const { stdout } = await run(process.execPath, [program, base]);
    expect(JSON.parse(stdout)).toEqual({ statuses: [201, 200, 200, 422, 200], port: 80, total: 1, fields: ['name'] });
  });
});
