import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const REPO = resolve(__dirname, '..', '..');
const GENERATED = 'libs/proto-gen/src/gen/';

const BANNED_WORD = /(^|-)(managers?|helpers?|utils?|common|base|abstract|processors?|data(?!-source)|info)(-|\.|$)/;
const BANNED_FOLDER = /^(constants|dtos?|interfaces|types|utils?|helpers?|common)$/;

function sourcesOf(folder: string): readonly string[] {
  return readdirSync(join(REPO, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => /\.(ts|mjs)$/.test(path) && !path.startsWith(GENERATED));
}

const sources = ['apps', 'bench', 'libs', 'migrations', 'scripts', 'test'].flatMap(sourcesOf);

describe('names of files', () => {
  it('are kebab-case', () => {
    expect(sources.filter((path) => !/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(basename(path)))).toEqual([]);
  });

  it('say what the file is about', () => {
    expect(sources.filter((path) => BANNED_WORD.test(basename(path)))).toEqual([]);
  });

  it('are in folders that hold an idea, not a sort of code', () => {
    expect(
      sources.filter((path) =>
        dirname(path)
          .split('/')
          .some((part) => BANNED_FOLDER.test(part)),
      ),
    ).toEqual([]);
  });
});
