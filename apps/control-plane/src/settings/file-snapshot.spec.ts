import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from '@causeway/runtime';
import { loadConfig } from './load-config';
import { FileSnapshot } from './file-snapshot';

describe('files that were read', () => {
  let folder: string;
  let path: string;
  let files: FileSnapshot;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'file-snapshot-'));
    path = join(folder, 'file');
    writeFileSync(path, 'first');
    files = new FileSnapshot();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it.each<readonly [string, () => void]>([
    ['written', () => writeFileSync(path, 'other')],
    ['replaced by a rename', () => (writeFileSync(`${path}2`, 'other'), renameSync(`${path}2`, path))],
    ['removed', () => rmSync(path)],
    ['too large', () => writeFileSync(path, 'f'.repeat(1_025))],
  ])('are others when one was %s', (_how, change) => {
    expect(files.read(path, 1)).toBe('first');
    expect(files.areSame()).toBe(true);
    change();
    expect(files.areSame()).toBe(false);
  });

  it('are others when the size and the times of one are the same', () => {
    const { atime, mtime } = statSync(path);
    files.read(path, 1);
    writeFileSync(path, 'other');
    utimesSync(path, atime, mtime);
    expect(files.areSame()).toBe(false);
  });

  it('are others when a symbolic link in the path leads elsewhere, as in mounted secrets', () => {
    for (const name of ['a', 'b']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'secret'), name);
    }
    symlinkSync('a', join(folder, 'now'));
    expect(files.read(join(folder, 'now', 'secret'), 1)).toBe('a');
    symlinkSync('b', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'now'));
    expect(files.areSame()).toBe(false);
  });

  it('are others when one that could not be read is there', () => {
    const missing = join(folder, 'missing');
    expect(() => files.read(missing, 1)).toThrow('ENOENT');
    expect(files.areSame()).toBe(true);
    writeFileSync(missing, '');
    expect(files.areSame()).toBe(false);
  });

  it('let settings be parsed once: the same result until one is another', () => {
    const settings = { CAUSEWAY_MESH_NAME: text('default') };
    writeFileSync(path, 'meshName: first');
    const program = { settings, description: '', help: {} };
    const { values, reread } = loadConfig(program, { env: { CAUSEWAY_CONFIG: path }, args: [] });
    const first = reread();
    expect(first).toMatchObject({ ok: true, values });
    expect(reread()).toBe(first);
    writeFileSync(path, 'meshName: other');
    expect(reread()).toMatchObject({ ok: true, values: { CAUSEWAY_MESH_NAME: 'other' } });
    expect(reread()).toBe(reread());
  });
});
