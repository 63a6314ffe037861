import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseResourceFile, ResourceFile, type FileEntry } from './resource-file';

const put = (name: string, content: string): FileEntry => ({
  type: 'put',
  resource: { type: 'cluster', name, version: `v-${content}`, bytes: Buffer.from(content) },
});
const BATCHES: readonly (readonly FileEntry[])[] = [
  [{ type: 'want', of: 'endpoints', names: ['a', 'ü'] }, put('a', 'first')],
  [put('b', ''), put('c', 'x'.repeat(300))],
  [
    { type: 'remove', of: 'cluster', names: ['a'] },
    { type: 'unwant', of: 'endpoints', names: ['a'] },
  ],
];

describe('the file of the resources of a zone', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-resources-'));
    path = join(folder, 'resources');
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function written(): Promise<Buffer> {
    const { file, content } = await ResourceFile.open(path);
    expect(content).toEqual({ entries: [] });
    for (const batch of BATCHES) await file.append(batch);
    await file.close();
    return readFile(path);
  }

  async function read(bytes: Buffer): Promise<{ readonly entries: readonly FileEntry[]; readonly corrupt?: string }> {
    await writeFile(path, bytes);
    const { file, content } = await ResourceFile.open(path);
    await file.close();
    return content;
  }

  it('gives back what was appended, in its order, and goes on from there', async () => {
    await written();
    const again = await ResourceFile.open(path);
    expect(again.content.entries).toEqual(BATCHES.flat());
    await again.file.append([put('d', 'later')]);
    await again.file.close();
    expect((await read(await readFile(path))).entries).toEqual([...BATCHES.flat(), put('d', 'later')]);
    expect((await readFile(path)).includes('later')).toBe(true);
  });

  it('cut short at any byte it has whole appends only, and takes new ones', async () => {
    const bytes = await written();
    const prefixes = BATCHES.map((_, i) => BATCHES.slice(0, i).flat());
    let most = 0;
    for (let length = 0; length < bytes.length; length++) {
      const { entries, corrupt } = parseResourceFile(bytes.subarray(0, length));
      // Shorter than its first line it is no file of ours.
      if (corrupt === undefined) expect(prefixes).toContainEqual(entries);
      else expect([entries, length]).toEqual([[], Math.min(length, 20)]);
      expect(entries.length).toBeGreaterThanOrEqual(most);
      most = entries.length;
    }
    await read(bytes.subarray(0, -3));
    const { file } = await ResourceFile.open(path);
    await file.append([put('d', 'later')]);
    await file.close();
    expect((await read(await readFile(path))).entries).toEqual([...BATCHES.slice(0, -1).flat(), put('d', 'later')]);
  });

  it('with zeros after its end, as a crash may leave them, it has everything', async () => {
    const bytes = await written();
    expect(await read(Buffer.concat([bytes, Buffer.alloc(4_096)]))).toEqual({ entries: BATCHES.flat() });
  });

  it('changed at any byte it is given up, but for the append that was written last', async () => {
    const bytes = await written();
    const allButLast = BATCHES.slice(0, -1).flat();
    let given = 0;
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x41, at);
      const { entries, corrupt } = parseResourceFile(changed);
      if (corrupt === undefined) expect(entries).toEqual(allButLast);
      else {
        expect(entries).toEqual([]);
        given += 1;
      }
    }
    expect(given).toBeGreaterThan(bytes.length / 2);
  });

  it('is replaced as a whole, and may be discarded', async () => {
    await written();
    const { file } = await ResourceFile.open(path);
    await file.replace([[put('only', 'this')]]);
    await file.append([put('and', 'that')]);
    await file.close();
    expect((await read(await readFile(path))).entries).toEqual([put('only', 'this'), put('and', 'that')]);
    const again = await ResourceFile.open(path);
    await again.file.discard();
    await expect(readFile(path)).rejects.toThrow('ENOENT');
    await expect(again.file.append([])).rejects.toThrow('is not open');
  });
});
