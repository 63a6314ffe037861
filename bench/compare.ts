import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PROGRAM_STARTS, PROGRAM_TREE } from '../test/support/built-programs';
import { hashOf, newVersion, oldVersion } from '../test/upgrade/version-tree';
import { comparisonTable, compareRounds, readFigures, type Figures, type Round } from './support/comparison';
import { appendToHistory } from './support/history';
import { runProgram } from './support/run-program';

/**
 * A bench of today against the built programs of an earlier commit and of the working tree (which must be built), in turn: prints each
 * figure of both, the median ratio of the rounds, and one JSON line, and appends the ratios to `bench/history.jsonl`. The bench must reach the programs over REST, DNS, gRPC and files only;
 * one that starts no program measures the working tree and is refused. Its own settings are those of the environment.
 *
 * `BENCH_SERVICES=2000 node -r ./bench/register.cjs bench/compare.ts 3b92d14b throughput [--rounds 5] [--trees FOLDER]`
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: 'string', default: '5' }, trees: { type: 'string' } },
  });
  const [reference = '', bench = ''] = positionals;
  const rounds = Number(values.rounds);
  if (!Number.isSafeInteger(rounds) || rounds < 1)
    throw new Error(`--rounds: must be a whole number from 1; got "${values.rounds}"`);
  if (!/^[a-z-]+$/.test(bench) || !existsSync(join(__dirname, `${bench}.ts`)))
    throw new Error(`the second argument must name a bench, such as throughput; got "${bench}"`);
  const hash = await hashOf(reference);
  if (hash === undefined) throw new Error(`the first argument must name a commit of this clone; got "${reference}"`);
  const trees = values.trees ?? mkdtempSync(join(tmpdir(), 'causeway-trees-'));
  try {
    const before = await oldVersion(hash, trees);
    const done: Round[] = [];
    for (let n = 0; n < rounds; n++) {
      // Side effects of a round, such as a warm disk, must not favour one of the two versions.
      const order = n % 2 === 0 ? [before, newVersion] : [newVersion, before];
      const figures = new Map<string, Figures>();
      for (const { label, root } of order) figures.set(label, await runBench(bench, root));
      done.push({ before: figures.get('old') ?? new Map(), after: figures.get('new') ?? new Map() });
      console.error(`round ${n + 1} of ${rounds}`);
    }
    const compared = compareRounds(done);
    console.log(comparisonTable(compared));
    console.log(JSON.stringify({ compare: bench, before: hash, rounds, figures: compared }));
    const after = (await hashOf('HEAD')) ?? 'unknown';
    appendToHistory({ bench, before: hash, after, rounds, figures: compared });
  } finally {
    if (values.trees === undefined) rmSync(trees, { recursive: true, force: true });
  }
}

async function runBench(bench: string, tree: string): Promise<Figures> {
  const { run } = await import('../scripts/lib/run.mjs');
  const folder = mkdtempSync(join(tmpdir(), 'causeway-starts-'));
  try {
    const starts = join(folder, 'starts');
    const env = { ...process.env, [PROGRAM_TREE]: tree, [PROGRAM_STARTS]: starts };
    const args = ['-r', join(__dirname, 'register.cjs'), join(__dirname, `${bench}.ts`)];
    const { status, output, text } = await run(process.execPath, args, { cwd: join(__dirname, '..'), env });
    if (status !== 0) throw new Error(`bench/${bench}.ts ended with ${status} on ${tree}:\n${output}`);
    const started = existsSync(starts) ? readFileSync(starts, 'utf8').trim().split('\n') : [];
    if (started.length === 0) throw new Error(`bench/${bench}.ts starts no program: it measures the working tree`);
    const foreign = started.find((file) => !file.startsWith(join(tree, 'dist')));
    if (foreign !== undefined) throw new Error(`bench/${bench}.ts started ${foreign}, not a program of ${tree}`);
    return readFigures(text);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

runProgram(main);
