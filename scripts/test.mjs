/**
 * `npm test`: installs and builds what is stale, brings a real Postgres and a real Redis, runs Jest on top.
 * Arguments go to Jest: `npm test -- libs/ipam`. The last line counts the tests, of all runs of Jest.
 * `npm run test:long` runs the tests that take minutes (`*.long.spec.ts`) in place of all others.
 * A run that hangs is ended after LIMIT_MINUTES, and the files that it hangs in are named.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { build, isBuilt } from './lib/build.mjs';
import { runMain } from './lib/failure.mjs';
import { drawFuzzSeed } from './lib/fuzz-seed.mjs';
import { ALL_PACKAGES, install, isInstalled } from './lib/install.mjs';
import { requireNode } from './lib/node-version.mjs';
import { root } from './lib/root.mjs';
import { compareWithBudget, readBudget, sumByFolder } from './lib/test-budget.mjs';
import { NO_REDIS, startTestServices } from './lib/test-services.mjs';

/** The long tests, and the one among them that runs many schedules, in a process a core. */
const LONG = '\\.long\\.spec\\.ts$';
const SCHEDULES = 'test/simulation/simulation.long.spec.ts';

/** Set by `.ci/run`: of the long tests one file in so many is run. 1: all. */
const DRAWN = Number(process.env.CAUSEWAY_TEST_DRAWN ?? 1);
/** Set by `.ci/run`: a run that takes more than its budget fails. Elsewhere it says so. */
const isBudgetEnforced = process.env.CAUSEWAY_TEST_BUDGET === 'enforced';

/** The whole suite takes a quarter of it on a quiet machine with two cores, and two thirds on a busy one. `.ci/run` waits a little longer. */
const LIMIT_MINUTES = Number(process.env.CAUSEWAY_TEST_LIMIT_MINUTES ?? 60);
const deadline = Date.now() + LIMIT_MINUTES * 60_000;

/** Allocations of tests are mostly garbage at once: a larger young generation spares a tenth of the CPU time. Jest's workers have it too. */
const YOUNG_HEAP = '--max-semi-space-size=32';

const WORKERS = Math.min(2, availableParallelism()) + 1;

/** Time within which Jest must end after a signal, ms. */
const END_MS = 10_000;

/** The simulation's schedules take every core, and would be slow beside other tests. */
const LONG_PARTS = [
  ['--runInBand', SCHEDULES],
  [LONG, `--testPathIgnorePatterns=/node_modules/`, `--testPathIgnorePatterns=${SCHEDULES}`],
];

/** Whether a signal, or the limit, asked the run to end. */
let interrupted = false;

const NO_SCHEMATHESIS =
  'no schemathesis: REST is not fuzzed by its OpenAPI document (`sh test/schemathesis/run.sh` installs it and does)';

const NO_ENVOY =
  'no Envoy: what our server tells proxies is not tried with a real one (set CAUSEWAY_ENVOY to what `sh test/envoy/install.sh` prints)';

await runMain(async () => {
  requireNode();
  drawFuzzSeed();
  if (!isInstalled(root, ALL_PACKAGES)) {
    console.log('installing packages');
    await install(root, ALL_PACKAGES);
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

/** Runs what is asked for in Jest; resolves with the exit code. */
async function runTests(args) {
  const isLong = args.length === 1 && args[0] === '--long';
  const isWhole = isLong || args.length === 0;
  const folder = mkdtempSync(join(tmpdir(), 'causeway-cpu-'));
  const cpuFile = join(folder, 'seconds');
  process.env.CAUSEWAY_TEST_CPU_FILE = cpuFile;
  try {
    const results = [];
    for (const part of isLong ? LONG_PARTS : [args])
      if (!interrupted) results.push(await runPart([...part, ...(isLong ? drawLongTests() : [])]));
    const isComplete = isWhole && !(isLong && DRAWN > 1) && !interrupted && existsSync(cpuFile);
    const isWithin = !isComplete || reportBudget(readFileSync(cpuFile, 'utf8'), isLong ? 'long' : 'tests');
    return report(results) || (isBudgetEnforced && !isWithin ? 1 : 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Jest's arguments that leave out all but one in DRAWN of the long test files. */
function drawLongTests() {
  if (DRAWN === 1) return [];
  const at = Math.floor(Math.random() * DRAWN);
  return [`--shard=${at + 1}/${DRAWN}`, '--passWithNoTests'];
}

/** Prints what the tests took of their budget; false if it was too much. */
function reportBudget(seconds, suite) {
  const { ok, lines } = compareWithBudget(sumByFolder(seconds), readBudget(suite));
  for (const line of lines) console.log(line);
  return ok;
}

/** One run of Jest: its exit code and, unless it broke, its result. */
async function runPart(args) {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-result-'));
  const resultFile = join(folder, 'result.json');
  // One more than there are cores: many tests wait, for a lease, a renewal or a process.
  const workers = args.some((arg) => /^(-w|-i|--maxWorkers|--runInBand)/.test(arg)) ? [] : [`--maxWorkers=${WORKERS}`];
  try {
    const status = await runJest([...args, ...workers, '--json', `--outputFile=${resultFile}`]);
    return { status, result: existsSync(resultFile) ? JSON.parse(readFileSync(resultFile, 'utf8')) : undefined };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves with Jest's exit code. Ctrl-C reaches Jest by the terminal; SIGTERM is handed on. */
function runJest(args) {
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const reporters = ['default', join(root, 'tools', 'jest-running-files.js')].map((each) => `--reporters=${each}`);
  // Jest prints the JSON on stdout as well, even when it goes to a file.
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'];
  const child = spawn(process.execPath, [YOUNG_HEAP, jest, ...args, ...reporters], { cwd: root, stdio });
  process.on('SIGINT', () => (interrupted = true));
  process.on('SIGTERM', () => {
    interrupted = true;
    child.kill('SIGTERM');
  });
  const stopWatching = endAtLimit(child);
  return new Promise((resolve) =>
    child.once('exit', (code, signal) => {
      stopWatching();
      if (signal) console.error(`causeway: Jest was ended by ${signal}`);
      resolve(code ?? 1);
    }),
  );
}

/** Ends Jest when the limit of the run passes, and names the files that were running then. */
function endAtLimit(child) {
  const running = new Set();
  child.on('message', ({ began, ended }) => {
    if (began) running.add(began);
    running.delete(ended);
  });
  const timers = [];
  const after = (ms, action) => timers.push(setTimeout(action, ms));
  after(Math.max(0, deadline - Date.now()), () => {
    interrupted = true;
    const files = [...running].map((file) => relative(root, file)).join(', ') || 'no file';
    console.error(`causeway: the tests took longer than ${LIMIT_MINUTES} minutes; running: ${files}`);
    child.kill('SIGTERM');
    after(END_MS, () => child.kill('SIGKILL'));
  });
  return () => timers.forEach(clearTimeout);
}

function report(parts) {
  const status = parts.map((part) => part.status).find((code) => code !== 0) ?? 0;
  const results = parts.flatMap(({ result }) => result ?? []);
  if (results.length < parts.length) {
    console.error('causeway: Jest ended without a result');
    return status || 1;
  }
  if (!process.env.CAUSEWAY_TEST_REDIS_URL) console.log(NO_REDIS);
  if (process.argv.includes('--long') && !process.env.SCHEMATHESIS) console.log(NO_SCHEMATHESIS);
  if (!process.env.CAUSEWAY_ENVOY) console.log(NO_ENVOY);
  const sum = (count) => results.reduce((total, result) => total + count(result), 0);
  console.log(`slowest: ${slowest(results)}`);
  const brokenFiles = sum((result) => result.numRuntimeErrorTestSuites);
  if (brokenFiles > 0) console.log(`${brokenFiles} test files did not run`);
  const failed = brokenFiles + sum((result) => result.numFailedTests);
  const skipped = sum((result) => result.numPendingTests + result.numTodoTests);
  console.log(`${sum((result) => result.numPassedTests)} passed, ${failed} failed, ${skipped} skipped`);
  return status;
}

/** The ten files that took longest, with their seconds. */
function slowest(results) {
  return results
    .flatMap(({ testResults }) => testResults)
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1_000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 10)
    .map(({ name, seconds }) => `${relative(root, name)} ${seconds.toFixed(0)} s`)
    .join(', ');
}
