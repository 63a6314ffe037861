import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');

/** The walks by the title of their section, and how many files each may name. */
const WALKS: Readonly<Record<string, number>> = { 'One write through the code': 30, 'One route through the code': 18 };

/** A function, a method (also a generator), or a SQL function of that name. */
function declares(source: string, name: string): boolean {
  return new RegExp(
    `(^(export )?(async )?function\\*? |^ +((private|static|async) )*\\*?|^CREATE FUNCTION )${name}[<(]`,
    'm',
  ).test(source);
}

describe.each(Object.entries(WALKS))('the walk "%s" in docs/architecture.md', (title, mostFiles) => {
  const [, section = ''] = page.split(`## ${title}`);
  const [walk = ''] = section.split('\n## ');
  const steps = [...walk.matchAll(/^(\d+)\. `([^`]+)` `([^`]+)`: /gm)].map(
    ([, number = '', file = '', name = '']) => [number, file, name] as const,
  );

  it('has its steps in order', () => {
    expect(steps.length).toBeGreaterThan(15);
    expect(steps.map(([number]) => Number(number))).toEqual(steps.map((_, place) => place + 1));
    expect(walk.match(/^\d+\. /gm)).toHaveLength(steps.length);
  });

  it(`names at most ${mostFiles} files`, () => {
    expect(new Set(steps.map(([, file]) => file)).size).toBeLessThanOrEqual(mostFiles);
  });

  it.each(steps)('%s. %s has %s', (_, file, name) => {
    expect(declares(readFileSync(join(ROOT, file), 'utf8'), name)).toBe(true);
  });
});
