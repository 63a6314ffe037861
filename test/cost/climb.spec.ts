import { climb, sizesUpTo } from './climb';
import { courseOf, lastFirstTurn } from './course';
import { entryPoints } from './entries/entry-points';
import { EXAMPLES } from './examples';
import { takesText, type EntryPoint } from './entry-point';

const letters = [{ name: 'letters', make: (size: number) => 'a'.repeat(size) }];

function entry(take: (text: string) => unknown, largest = 256 * 1024): EntryPoint {
  return takesText('made up', largest, letters, take);
}

async function isSuperLinear(of: EntryPoint): Promise<boolean> {
  const [shape] = of.shapes;
  if (!shape) throw new Error('no shape');
  return (await climb(of, shape)).superLinear;
}

/** Reads each character `times` times. */
function read(text: string, times: number): number {
  let sum = 0;
  for (let pass = 0; pass < times; pass++) for (let i = 0; i < text.length; i++) sum += text.charCodeAt(i) ^ pass;
  return sum;
}

describe('the cost fuzzer', () => {
  it('finds an entry point that is quadratic', async () => {
    expect(await isSuperLinear(entry((text) => read(text, text.length / 64)))).toBe(true);
  });

  it('finds one that looks on from each place to the end', async () => {
    expect(
      await isSuperLinear(entry((text) => /(a+)+b|aa*b/.exec(text.slice(0, 16)) ?? /a*b/.exec(text), 64 * 1024)),
    ).toBe(true);
  });

  it('finds one that refuses only after quadratic work', async () => {
    const refusing = entry((text) => {
      read(text, text.length / 64);
      throw new Error('refused');
    });
    expect(await isSuperLinear(refusing)).toBe(true);
  });

  it('lets a linear one pass, also a slow one', async () => {
    expect(await isSuperLinear(entry((text) => read(text, 1)))).toBe(false);
    expect(await isSuperLinear(entry((text) => read(text, 100)))).toBe(false);
  });

  it('lets n log n and one step up pass', async () => {
    expect(await isSuperLinear(entry((text) => read(text, Math.log2(text.length) * 4)))).toBe(false);
    expect(await isSuperLinear(entry((text) => read(text, text.length > 100_000 ? 60 : 20)))).toBe(false);
  });

  it('ends at the largest input, which it tries', () => {
    expect(sizesUpTo(65_535).at(-1)).toBe(65_535);
    expect(sizesUpTo(1_024 * 1_024)).toHaveLength(9);
  });

  it('draws the same shapes for the same seed and others for another', () => {
    const names = (seed: number): string[] => entryPoints(seed).flatMap(({ shapes }) => shapes.map(({ name }) => name));
    expect(names(7)).toEqual(names(7));
    expect(names(7)).not.toEqual(names(8));
  });

  it('tries what was found once before all else, whatever the seed', () => {
    const course = courseOf(entryPoints(9), 9).map(({ entry, shape }) => `${entry.name}: ${shape.name}`);
    const examples = EXAMPLES.map(([entry, shape]) => `${entry}: ${shape}`);
    expect([...course.slice(0, examples.length)].sort()).toEqual([...examples].sort());
  });

  it('gives every entry point its turn before a run ends, however slow the machine is', () => {
    const entries = entryPoints(9);
    const course = courseOf(entries, 9);
    const at = lastFirstTurn(course);
    const tried = (until: number): number => new Set(course.slice(0, until).map(({ entry }) => entry.name)).size;
    expect([tried(at), tried(at + 1)]).toEqual([entries.length - 1, entries.length]);
    expect(lastFirstTurn([])).toBe(-1);
  });

  it('makes inputs of about the size that is asked for', () => {
    const { shapes } = takesText('sizes', 1_000, letters, () => undefined);
    expect(shapes).toHaveLength(1);
    for (const point of entryPoints(1)) expect([point.name, point.shapes.length > 0]).toEqual([point.name, true]);
  });
});
