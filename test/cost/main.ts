import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { climbAll, type Outcome } from './climbing';
import { entryPoints } from './entries/entry-points';
import { markdown, rowsOf } from './table';

/**
 * The cost fuzzer: grows hostile inputs of many shapes at every entry point and fails where CPU time grows faster than
 * size: `node -r ./bench/register.cjs test/cost/main.ts [--seconds 60] [--only "in JSON"] [--docs]`. CAUSEWAY_FUZZ_SEED
 * repeats a run; `--docs` writes the table into docs/reference/bounds.md.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      only: { type: 'string', default: '' },
      processes: { type: 'string', default: '2' },
      docs: { type: 'boolean', default: false },
    },
  });
  const { only } = values;
  const { drawFuzzSeed } = await import('../../scripts/lib/fuzz-seed.mjs');
  const seed = drawFuzzSeed();
  const until = Date.now() + Number(values.seconds) * 1_000;
  const outcome = await climbAll({ seed, until, only }, Number(values.processes));
  const entries = entryPoints(seed).filter(({ name }) => name.includes(only));
  const table = markdown(rowsOf(entries, outcome.climbs));
  console.log(table);
  if (values.docs) intoDocs(table);
  const shapes = entries.reduce((sum, entry) => sum + entry.shapes.length, 0);
  const faults = faultsOf(outcome, seed);
  for (const fault of faults) console.log(fault);
  const untried = entries.filter(({ name }) => !outcome.climbs.some(({ entry }) => entry === name));
  for (const { name } of untried) console.log(`FAILED ${name}: no shape had its turn`);
  console.log(
    `cost: ${outcome.climbs.length} of ${shapes} shapes at ${entries.length} entry points, ${faults.length} super-linear`,
  );
  process.exitCode = faults.length + untried.length > 0 ? 1 : 0;
}

function faultsOf({ climbs, endless }: Outcome, seed: number): string[] {
  const steep = climbs.filter(({ superLinear }) => superLinear);
  return [
    ...steep.map(({ entry, shape, steps, growth }) => {
      const shown = steps.slice(-3).map(({ size, ms }) => `${size} B ${ms.toFixed(1)} ms`);
      return `FAILED ${entry}: ${shape}: n^${growth?.toFixed(2)}: ${shown.join(', ')} (seed ${seed})`;
    }),
    ...endless.map(({ entry, shape }) => `FAILED ${entry}: ${shape}: did not end (seed ${seed})`),
  ];
}

const BEGIN = '<!-- cost table: test/cost/main.ts --docs -->';
const END = '<!-- end of the cost table -->';

function intoDocs(table: string): void {
  const file = join(__dirname, '..', '..', 'docs', 'reference', 'bounds.md');
  const [before = '', rest = ''] = readFileSync(file, 'utf8').split(BEGIN);
  const [, after = ''] = rest.split(END);
  writeFileSync(file, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
