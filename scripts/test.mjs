/**
 * `npm test`: installs and builds what is stale, brings a real Postgres and a real Redis, runs Jest on top.
 * Arguments go to Jest: `npm test -- libs/ipam`. The last line counts the tests.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, isBuilt } from './lib/build.mjs';
import { runMain } from './lib/failure.mjs';
import { install, isInstalled } from './lib/install.mjs';
import { requireNode } from './lib/node-version.mjs';
import { root } from './lib/root.mjs';
import { NO_REDIS, startTestServices } from './lib/test-services.mjs';

const NO_SCHEMATHESIS =
  'no schemathesis: REST is not fuzzed by its OpenAPI document (`sh test/schemathesis/run.sh` installs it and does)';

await runMain(async () => {
  requireNode();
  if (!isInstalled(root)) {
    console.log('installing packages');
    await install(root);
  }
  if (!isBuilt(root)) {
    console.log('building');
    await build(root);
  }
  const stop = await startTestServices();
  try {
    process.exitCode = await runTests(process.argv.slice(2));
  } finally {
    await stop();
  }
});

async function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-result-'));
  const resultFile = join(folder, 'result.json');
  const workers = args.some((arg) => /^(-w|-i|--maxWorkers|--runInBand)/.test(arg)) ? [] : ['--maxWorkers=2'];
  const status = await runJest([...args, ...workers, '--json', `--outputFile=${resultFile}`]);
  try {
    return report(JSON.parse(readFileSync(resultFile, 'utf8')), status);
  } catch {
    console.error('causeway: Jest ended without a result');
    return status || 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves with Jest's exit code. Ctrl-C reaches Jest by the terminal; SIGTERM is handed on. */
function runJest(args) {
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  // Jest prints the JSON on stdout as well, even when it goes to a file.
  const child = spawn(process.execPath, [jest, ...args], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

function report(result, status) {
  if (!process.env.CAUSEWAY_TEST_REDIS_URL) console.log(NO_REDIS);
  if (!process.env.SCHEMATHESIS) console.log(NO_SCHEMATHESIS);
  const brokenFiles = result.numRuntimeErrorTestSuites;
  if (brokenFiles > 0) console.log(`${brokenFiles} test files did not run`);
  const skipped = result.numPendingTests + result.numTodoTests;
  console.log(`${result.numPassedTests} passed, ${result.numFailedTests + brokenFiles} failed, ${skipped} skipped`);
  return status;
}
