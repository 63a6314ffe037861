import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A Go client that oapi-codegen generates from /openapi.json, against a control plane that runs: it creates, reads, lists and
 * deletes a MeshService `example`. For a person with Go, since it loads the generator and its modules:
 *
 *   npm start, then: node -r ./bench/register.cjs test/clients/go-client.ts http://127.0.0.1:6681
 */
const GENERATOR = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';

async function main(base: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-go-client-'));
  const go = (...args: readonly string[]): string =>
    execFileSync('go', args, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  try {
    writeFileSync(join(folder, 'openapi.json'), await (await fetch(`${base}/openapi.json`)).text());
    copyFileSync(join(__dirname, 'testdata', 'main.go.txt'), join(folder, 'main.go'));
    go('mod', 'init', 'example.com/causeway');
    mkdirSync(join(folder, 'client'));
    const code = go('run', GENERATOR, '-generate', 'types,client', '-package', 'client', 'openapi.json');
    writeFileSync(join(folder, 'client', 'client.go'), code);
    go('mod', 'tidy');
    console.log(go('run', '.', base).trim());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main(process.argv[2] ?? 'http://127.0.0.1:6681').catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
