import { parseArgs } from 'node:util';
import { benchServices } from '../../bench/support/services';
import { runAttack } from './run';
import { judge, tableOf } from './verdict';

/**
 * All attacks of docs/reference/bounds.md at once on a global and two zones with normal load beside it:
 * `node -r ./bench/register.cjs test/attack/main.ts [--seconds 300] [--only "hostile JSON"]`. Prints a table and one JSON
 * line; exits with 1 where a bound is broken. Durations are checked from 60 s on. The programs must be built.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '300' }, only: { type: 'string', multiple: true, default: [] } },
  });
  const attack = Number(values.seconds);
  const long = attack >= 60;
  const stopServices = await benchServices();
  try {
    const seen = await runAttack({ before: long ? 20 : 5, attack, after: long ? 40 : 10, only: values.only });
    const verdict = judge(seen, long);
    console.log(tableOf(verdict));
    console.log(JSON.stringify(verdict));
    for (const broken of verdict.broken) console.log(`BROKEN ${broken}`);
    process.exitCode = verdict.broken.length > 0 ? 1 : 0;
  } finally {
    await stopServices();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
