import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchServices } from '../../bench/support/services';
import { ENVOY } from '../support/envoy-process';
import { PLANES } from './machines';
import { BREAKS, runUpgrade, type UpgradeRunOptions } from './upgrade-run';
import { hashOf, lastLanded, newVersion, oldVersion } from './version-tree';
import { runProgram } from '../../bench/support/run-program';

/**
 * The version of an earlier revision beside that of the working tree, which must be built: a rolling upgrade, the way back, and the
 * other order (docs/guides/upgrade.md). Prints what it does and one JSON line; exits with 1 where a promise was broken, and with 0
 * where the clone lacks the revision and `--optional` is given.
 *
 * `node -r ./bench/register.cjs test/upgrade/main.ts [--revision 570e1110] [--trees FOLDER] [--short] [--optional] [--plane envoy] [--break write]`
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      revision: { type: 'string', default: lastLanded() },
      trees: { type: 'string' },
      short: { type: 'boolean', default: false },
      optional: { type: 'boolean', default: false },
      plane: { type: 'string', default: 'builtin' },
      break: { type: 'string' },
    },
  });
  const plane = PLANES.find((one) => one === values.plane);
  if (!plane) throw new Error(`--plane: must be one of ${PLANES.join(', ')}; got "${values.plane}"`);
  if (plane === 'envoy' && ENVOY === undefined)
    throw new Error('--plane envoy: CAUSEWAY_ENVOY must name an Envoy; test/envoy/install.sh prints the path of one');
  const broken = BREAKS.find((one) => one === values.break);
  if (values.break !== undefined && broken === undefined)
    throw new Error(`--break: must be one of ${BREAKS.join(', ')}; got "${values.break}"`);
  const hash = await hashOf(values.revision);
  if (hash === undefined) {
    const line = `--revision: this clone has no commit "${values.revision}" (a shallow one has no history)`;
    if (!values.optional) throw new Error(line);
    console.log(`left out: ${line}`);
    return;
  }
  const trees = values.trees ?? mkdtempSync(join(tmpdir(), 'causeway-trees-'));
  try {
    await compare(hash, trees, { isShort: values.short, plane, ...(broken && { broken }) });
  } finally {
    if (values.trees === undefined) rmSync(trees, { recursive: true, force: true });
  }
}

async function compare(
  hash: string,
  trees: string,
  how: Pick<UpgradeRunOptions, 'isShort' | 'plane' | 'broken'>,
): Promise<void> {
  const began = performance.now();
  const old = await oldVersion(hash, trees);
  const built = performance.now();
  const stopServices = await benchServices();
  try {
    const { violations, figures } = await runUpgrade({ old, new: newVersion, ...how });
    const seconds = (from: number, to: number): number => Math.round((to - from) / 1_000);
    const times = { build_s: seconds(began, built), run_s: seconds(built, performance.now()) };
    const load = Math.round((loadavg()[0] ?? 0) * 10) / 10;
    console.log(JSON.stringify({ upgrade: { from: hash, ...how, ...times, load, violations, ...figures } }));
    process.exitCode = violations.length > 0 ? 1 : 0;
  } finally {
    await stopServices();
  }
}

runProgram(main);
