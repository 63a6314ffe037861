import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The table of docs/guides/install.md that counts commands and values for fifteen machines: each row says its own, the last one their sums.
 */

const PAGE = readFileSync(join(__dirname, '../../docs/guides/install.md'), 'utf8');
/** Maximum number of values that somebody has to know and write for fifteen machines. */
const MAX_VALUES = 20;

const part = PAGE.slice(PAGE.indexOf('\n## Fifteen machines\n'), PAGE.indexOf('\n## As an image\n'));
const rows = part
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()));
const steps = rows.slice(1, -1).map(([machines = '', commands = '', count = '', values = '']) => ({
  machines,
  commands,
  count: Number(count),
  values,
}));
const sum = rows.at(-1)?.map((cell) => Number(cell.replaceAll('*', '')));

/** Returns the sum of the numbers of a text's parts; a part without a number is one. */
function countParts(text: string): number {
  return text.split(', ').reduce((total, one) => total + Number(/^\d+/.exec(one)?.[0] ?? 1), 0);
}

/** Returns how often a row is done: by the number before `of N zones` or before its name. */
function timesOf(machines: string): number {
  return Number(
    /of (\d+) zones|^(\d+) /
      .exec(machines)
      ?.slice(1)
      .find((digits) => digits !== undefined) ?? 1,
  );
}

describe('fifteen machines in the guide', () => {
  it('are fifteen', () => {
    expect(steps.reduce((total, { machines }) => total + timesOf(machines), 0)).toBe(15);
    expect(sum?.[0]).toBe(15);
  });

  it('take as many commands as the rows name, and a package each', () => {
    const each = steps.filter(({ machines }) => !machines.includes('services'));
    for (const { machines, commands, count } of each) {
      const named = commands.startsWith('as ') ? 3 : commands.split('; ').length;
      expect([machines, count]).toEqual([machines, named * timesOf(machines)]);
    }
    const [services] = steps.filter(({ machines }) => machines.includes('services'));
    expect(services?.count).toBe(3 + 7 * ((services?.commands.split('; ').length ?? 0) - 1));
    expect(sum?.[2]).toBe(steps.reduce((total, { count }) => total + count, 15));
  });

  it(`take ${MAX_VALUES} values or fewer, and no secret`, () => {
    const counted = steps.reduce((total, { values }) => total + countParts(values), 0);
    expect(sum?.[3]).toBe(counted);
    expect(counted).toBeLessThanOrEqual(MAX_VALUES);
    expect(steps.map(({ values }) => values).join()).not.toMatch(/password|token|key/);
  });
});
