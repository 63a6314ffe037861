import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgent } from './commands';
import { readEnvironment } from './config';

describe('causeway-agent run with wrong usage', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'causeway-run-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('says first which file that a flag names cannot be read, then what else is missing', async () => {
    const said: string[] = [];
    const { file: _, ...environment } = readEnvironment({});
    const context = {
      environment: { ...environment, state: folder },
      version: '1.0.0',
      print: () => undefined,
      printError: (line: string) => void said.push(line),
      signal: new AbortController().signal,
      isTerminal: false,
    };
    const [bundle, tokenFile] = [join(folder, 'nope'), join(folder, 'token')];
    expect(await runAgent(context, { bundle, tokenFile }, 'dataplane')).toBe(2);
    expect(said).toEqual([
      `bundle: there is no file ${bundle}`,
      `tokenFile: there is no file ${tokenFile}`,
      expect.stringContaining('dataplanes: must have an item') as string,
    ]);
  });
});
