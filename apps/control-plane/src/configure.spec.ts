import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { port } from '@causeway/runtime';
import { configure } from './configure';

class Ended extends Error {}

describe('a file of settings', () => {
  let folder: string;
  let said: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'settings-'));
    said = [];
    jest.spyOn(process.stderr, 'write').mockImplementation((line) => said.push(String(line)) > 0);
    jest.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Ended(String(code));
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  const program = { description: 'a program', settings: { CAUSEWAY_REST_PORT: port(1) }, help: {}, others: [] };
  const configured = (path: string) => configure(program, { env: { CAUSEWAY_CONFIG: path }, args: [] });
  const file = (content: string): string => {
    const path = join(folder, 'causeway.yaml');
    writeFileSync(path, content);
    return path;
  };

  it.each([
    ['YAML', 'restPort: 7000\n'],
    ['JSON', '{"restPort": 7000}'],
  ])('is read as %s', (_form, content) => {
    expect(configured(file(content)).values.CAUSEWAY_REST_PORT).toBe(7000);
  });

  it('may be empty', () => expect(configured(file('# nothing yet\n')).values.CAUSEWAY_REST_PORT).toBe(1));

  it.each([
    ['no object', '[1]', /^causeway: \S+ must hold an object of settings\n$/],
    ['two documents', 'restPort: 1\n---\nrestPort: 2\n', /^causeway: \S+ must hold an object of settings\n$/],
    ['no YAML', 'a: [', /^causeway: \S+ cannot be read as YAML: line 1, column \d+: [^\n]+\n$/],
    ['of templates without end', 'a: {{ name }}\n'.repeat(15_000), /^causeway: \S+ cannot be read as YAML: [^\n]+\n$/],
    ['too large', `#${' '.repeat(256 * 1024)}`, /^causeway: \S+ cannot be read as YAML: it is larger than 256 KiB\n$/],
  ])('that is %s ends the program with one line', (_what, content, line) => {
    const path = file(content);
    expect(() => configured(path)).toThrow(Ended);
    expect(said).toEqual([expect.stringMatching(line)]);
  });

  it('that has no end is not read to it', () => {
    expect(() => configured('/dev/zero')).toThrow(Ended);
    expect(said).toEqual(['causeway: /dev/zero cannot be read as YAML: it is larger than 256 KiB\n']);
  });

  it('that is not there ends the program with one line', () => {
    expect(() => configured(join(folder, 'none.yaml'))).toThrow(Ended);
    expect(said).toEqual([expect.stringMatching(/^causeway: \S+ cannot be read as YAML: ENOENT[^\n]+\n$/)]);
  });
});
