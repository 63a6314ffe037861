import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globalSettings } from '../../apps/global/src/config';
import { zoneSettings } from '../../apps/zone/src/config';

/*
 * docs/reference/trust-boundaries.md has a row for everything that a control plane listens at, and that it asks itself; the tests that its
 * rows name are there.
 */

const ROOT = join(__dirname, '../..');
/** Settings that name an address: one where a program listens, or one that it connects to. A bind address is no boundary of its own. */
const PLACE = /(_PORT|_SOCKET|_URL|_ADDRESS|_ENDPOINT|_UPSTREAMS)$/;
const NO_BOUNDARY = /BIND_ADDRESS$|_PER_ADDRESS$/;

const rows = readFileSync(join(ROOT, 'docs/reference/trust-boundaries.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const codesIn = (cell: string | undefined): readonly string[] =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

describe('docs/reference/trust-boundaries.md', () => {
  it('has a row for each place of the programs', () => {
    const places = Object.keys({ ...globalSettings, ...zoneSettings }).filter(
      (name) => PLACE.test(name) && !NO_BOUNDARY.test(name),
    );
    expect(places.length).toBeGreaterThan(10);
    const named = rows.flatMap((cells) => codesIn(cells[3]));
    expect(places.filter((place) => !named.includes(place))).toEqual([]);
    const unknown = named.filter((name) => /^[A-Z_]+$/.test(name) && !places.includes(name));
    expect(unknown).toEqual([]);
  });

  it('names for each boundary tests that are there', () => {
    expect(rows.length).toBeGreaterThan(10);
    for (const cells of rows) {
      const tests = codesIn(cells[6]);
      expect(tests).not.toEqual([]);
      expect(tests.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    }
  });
});
