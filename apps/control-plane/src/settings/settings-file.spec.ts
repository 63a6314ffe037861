import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettingsFile } from './settings-file';

describe('readSettingsFile', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'settings-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = (content: string): string => {
    const path = join(folder, 'causeway.yaml');
    writeFileSync(path, content);
    return path;
  };

  it.each([
    ['YAML', 'restPort: 7000\n', { restPort: 7000 }],
    ['JSON', '{"restPort": 7000}', { restPort: 7000 }],
    ['nothing yet', '# nothing yet\n', {}],
    ['the largest that is allowed', '#'.repeat(256 * 1024), {}],
  ])('reads %s', (_form, content, settings) => expect(readSettingsFile(file(content)).file).toEqual(settings));

  it.each([
    ['no object', '[1]', /^\S+ must hold an object of settings$/],
    ['two documents', 'restPort: 1\n---\nrestPort: 2\n', /^\S+ must hold an object of settings$/],
    ['no YAML', 'a: [', /^\S+ cannot be read as YAML: line 1, column \d+: .+$/],
    ['templates by the thousand', 'a: {{ name }}\n'.repeat(15_000), /^\S+ cannot be read as YAML: .+$/],
    ['too much', '#'.repeat(256 * 1024 + 1), /^\S+ cannot be read as YAML: it is larger than 256 KiB$/],
  ])('says in one line what is wrong with %s', (_what, content, line) => {
    expect(() => readSettingsFile(file(content))).toThrow(line);
  });

  it('does not read to the end what has none', () => {
    expect(() => readSettingsFile('/dev/zero')).toThrow('/dev/zero cannot be read as YAML: it is larger than 256 KiB');
  });

  it('says of a file that is not there that it is not there', () => {
    expect(() => readSettingsFile(join(folder, 'none.yaml'))).toThrow(/none\.yaml cannot be read as YAML: .*ENOENT.+$/);
  });
});
