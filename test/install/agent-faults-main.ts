import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BUILTIN, ENDED, KEPT, type Fault, type Outcome } from './agent-faults';
import { LabMachine, ROOT, type LabOptions } from './lab-machine';

/** Faults that `.ci/run` tries, within a minute. */
const BRIEF = [
  'kill -9 of the agent',
  'systemctl restart',
  'the agent ends again and again',
  'systemctl stop',
  'drain',
  'uninstall',
];

/**
 * Breaks the agent of a machine in each way that its unit makes promises for, and prints a table of what came of it:
 * `node -r ./bench/register.cjs test/install/agent-faults-main.ts [--only WORDS] [--brief] [--units FOLDER]`. Exit code 1 if a promise was not kept. The machine
 * is a Debian tree with systemd as process 1 (`machine.ts`); needs root, debootstrap, Envoy (`test/envoy/install.sh`) and built programs.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      suite: { type: 'string', default: 'trixie' },
      units: { type: 'string', default: join(ROOT, 'deploy', 'systemd') },
      only: { type: 'string', default: '' },
      brief: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  });
  const { suite, units, only } = values;
  const envoy = execFileSync('sh', [join(ROOT, 'test', 'envoy', 'install.sh')], { encoding: 'utf8' }).trim();
  const begun = Date.now();
  const machine = { suite, units, only, keep: values.keep };
  const all = [...KEPT, ...ENDED];
  await breakMachine({ ...machine, envoy }, values.brief ? all.filter(({ name }) => BRIEF.includes(name)) : all);
  if (!values.brief) await breakMachine({ ...machine, envoy: undefined }, BUILTIN);
  console.log(`${seconds(begun)}  in all`);
}

interface Run extends LabOptions {
  readonly only: string;
  readonly keep: boolean;
}

/** Runs those faults whose names contain `only`, one by one. */
async function breakMachine({ only, keep, ...options }: Run, all: readonly Fault[]): Promise<void> {
  const faults = all.filter(({ name }) => name.includes(only));
  if (faults.length === 0) return;
  const begun = Date.now();
  const lab = await LabMachine.start(options);
  console.log(
    `${seconds(begun)}  a machine serves, ${options.envoy === undefined ? 'by the builtin plane' : 'by Envoy'}`,
  );
  try {
    for (const fault of faults) await show(lab, fault);
    if (keep) await visited(lab);
  } finally {
    await lab.close();
  }
}

async function show(lab: LabMachine, { name, run }: Fault): Promise<void> {
  const from = Date.now();
  const { facts, broken } = await run(lab).catch((error: unknown): Outcome => ({ facts: '', broken: [String(error)] }));
  console.log(`${seconds(from)}  ${broken.length === 0 ? 'ok    ' : 'FAILED'}  ${name}: ${facts}`);
  for (const line of broken) console.log(`                    ${line}`);
  if (broken.length > 0) process.exitCode = 1;
}

function seconds(from: number): string {
  return `${((Date.now() - from) / 1_000).toFixed(1).padStart(6)} s`;
}

/** Resolves when this program is interrupted. */
async function visited(lab: LabMachine): Promise<void> {
  console.log(`the machine stays until this program is interrupted: ${lab.machine.entrance}`);
  const alive = setInterval(() => undefined, 60_000);
  await new Promise<void>((done) => process.once('SIGINT', done).once('SIGTERM', done));
  clearInterval(alive);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
