import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPackages } from '../../scripts/lib/system/system-packages.mjs';
import { networkOf, stepsOf } from './guide';
import { Machine } from './machine';

const ROOT = resolve(__dirname, '..', '..');
const GUIDE = 'docs/guides/install.md';
/** The part that a machine runs, from this heading to that one. */
const [FROM, TO] = ['## From a bare machine to a request through the mesh', '## As an image'];

/**
 * Runs the commands of docs/guides/install.md word for word, as root, in a bare Debian machine with systemd, and prints how long
 * each took: `node -r ./bench/register.cjs test/install/main.ts [--suite trixie]`. Stops at the first command that fails,
 * with exit code 1. Needs root, debootstrap, and Debian's packages; the first run makes the tree (a minute), which stays
 * (`tree.sh`). The programs must be built, and dpkg-deb there.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      suite: { type: 'string', default: 'trixie' },
      quiet: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  });
  const tree = execFileSync('sh', [join(__dirname, 'tree.sh'), values.suite], { encoding: 'utf8' }).trim();
  const folder = mkdtempSync(join(tmpdir(), 'causeway-package-'));
  const hear = (text: string): void => void (values.quiet || process.stdout.write(text));
  try {
    const machine = await Machine.start(tree, packageIn(folder));
    try {
      await runGuide(machine, hear);
      if (values.keep) await visited(machine);
    } finally {
      await machine.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runGuide(machine: Machine, hear: (text: string) => void): Promise<void> {
  const steps = stepsOf(readFileSync(join(ROOT, GUIDE), 'utf8'), FROM, TO);
  const table: string[] = [];
  const begun = Date.now();
  for (const step of steps) {
    const from = Date.now();
    hear(`\n--- ${step.heading}\n${step.script}--- says\n`);
    const { code } = await machine.run(step.script, networkOf(step), hear);
    table.push(`${((Date.now() - from) / 1_000).toFixed(1).padStart(6)} s  ${step.heading}`);
    if (code === 0) continue;
    console.log(`FAILED with exit code ${code}: ${step.heading}`);
    await machine.run('journalctl --no-pager -n 40', 'own network', (text) => process.stdout.write(text));
    process.exitCode = 1;
    break;
  }
  console.log(
    `\n${table.join('\n')}\n${((Date.now() - begun) / 1_000).toFixed(1).padStart(6)} s  in all, ${table.length} of ${steps.length} steps`,
  );
}

/** Resolves when the person who inspects the machine presses Enter. */
async function visited(machine: Machine): Promise<void> {
  console.log(`the machine stays until this program is interrupted: ${machine.entrance}`);
  await new Promise<void>((done) => process.once('SIGINT', done).once('SIGTERM', done));
}

/** Makes the .deb, which the guide installs. */
function packageIn(folder: string): string {
  const { deb } = buildPackages(ROOT, folder, ['deb']);
  if (deb === undefined) throw new Error('no .deb was made');
  return deb;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
