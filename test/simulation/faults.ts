import { explain, explore } from './explore';
import { KNOWN_FAULTS } from './fault/faults';

/**
 * Puts known bugs in, one at a time, and prints in how many schedules each was found, as a table:
 * `node -r ./bench/register.cjs test/simulation/faults.ts [schedules] [fault]`.
 */
async function main(): Promise<void> {
  const [count = '500', only] = process.argv.slice(2);
  const range = { first: 1, step: 1, count: Number(count), seconds: 0 };
  console.log('| Fault | What is wrong | Found in | By | First seed |\n|---|---|---|---|---|');
  for (const { name, what, faults } of KNOWN_FAULTS) {
    if (only !== undefined && only !== name) continue;
    const { findings, schedules } = await explore(range, faults, Infinity);
    const counts = new Map<string, number>();
    for (const { violation } of findings) {
      counts.set(violation.invariant, (counts.get(violation.invariant) ?? 0) + 1);
    }
    const by = [...counts].sort().map(([invariant, times]) => `${invariant} (${times})`);
    const first = findings[0]?.schedule.seed ?? 'none';
    console.log(`| ${name} | ${what} | ${findings.length} of ${schedules} | ${by.join(', ')} | ${first} |`);
    if (only !== undefined && findings[0]) console.log(await explain(findings[0].schedule, faults));
  }
}

void main();
