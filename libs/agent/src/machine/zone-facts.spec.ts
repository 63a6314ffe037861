import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KnownZone } from './zone-facts';

const FACTS = { virtualRanges: ['244.7.0.0/16', 'fd00:fd::/112'], dnsSuffixes: ['mesh.local'] };

describe('what a zone tells of itself', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'causeway-zone-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is known after a restart, and is news once', async () => {
    const zone = await KnownZone.open(folder);
    expect([zone.facts, zone.suffixes]).toEqual([undefined, ['mesh.local']]);
    const facts = { ...FACTS, dnsSuffixes: ['shop.internal'] };
    expect(await zone.update(facts)).toBe(true);
    expect(await zone.update({ ...facts })).toBe(false);
    const restarted = await KnownZone.open(folder);
    expect([restarted.facts, restarted.suffixes]).toEqual([facts, ['shop.internal']]);
  });

  it.each([
    ['half of all addresses', { ...FACTS, virtualRanges: ['0.0.0.0/1'] }, '"0.0.0.0/1" is no range'],
    ['rules in place of a range', { ...FACTS, virtualRanges: ['241.0.0.0/8 }; flush ruleset'] }, 'is no range'],
    ['too many ranges', { ...FACTS, virtualRanges: Array<string>(65).fill('241.0.0.0/8') }, 'virtualRanges'],
    ['a suffix that is too long', { ...FACTS, dnsSuffixes: ['x'.repeat(254)] }, 'dnsSuffixes[0]'],
  ])('is not taken where it is %s; what was known stays', async (_, facts, reason) => {
    const zone = await KnownZone.open(folder);
    await zone.update(FACTS);
    await expect(zone.update(facts)).rejects.toThrow(reason);
    expect(zone.facts).toEqual(FACTS);
    expect((await KnownZone.open(folder)).facts).toEqual(FACTS);
  });

  it.each(['', '{', '{"virtualRanges": ["0.0.0.0/0"], "dnsSuffixes": []}', '[]'])(
    'is not read from a file with %j',
    async (text) => {
      writeFileSync(join(folder, 'zone.json'), text);
      expect((await KnownZone.open(folder)).facts).toBeUndefined();
    },
  );
});
