import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const MOST_FILES = 30;

const page = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
const [, section = ''] = page.split('## One write through the code');
const [walk = ''] = section.split('\n## ');
const steps = [...walk.matchAll(/^(\d+)\. `([^`]+)` `([^`]+)`: /gm)].map(
  ([, number = '', file = '', name = '']) => [number, file, name] as const,
);

/** A function, a method (also a generator), or a SQL function of that name. */
function declares(source: string, name: string): boolean {
  return new RegExp(
    `(^(export )?(async )?function\\*? |^ +((private|static|async) )*\\*?|^CREATE FUNCTION )${name}[<(]`,
    'm',
  ).test(source);
}

describe('the walk of one write in docs/architecture.md', () => {
  it('has its steps in order', () => {
    expect(steps.length).toBeGreaterThan(15);
    expect(steps.map(([number]) => Number(number))).toEqual(steps.map((_, place) => place + 1));
    expect(walk.match(/^\d+\. /gm)).toHaveLength(steps.length);
  });

  it(`names at most ${MOST_FILES} files`, () => {
    expect(new Set(steps.map(([, file]) => file)).size).toBeLessThanOrEqual(MOST_FILES);
  });

  it.each(steps)('%s. %s has %s', (_, file, name) => {
    expect(declares(readFileSync(join(ROOT, file), 'utf8'), name)).toBe(true);
  });
});
