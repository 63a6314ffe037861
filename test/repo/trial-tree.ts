import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const REPO = resolve(__dirname, '..', '..');
const CONFIGURATION = [
  '.dependency-cruiser.cjs',
  'eslint.config.mjs',
  'knip.config.js',
  'package.json',
  'tsconfig.json',
  'tools/eslint-no-literal-spread.mjs',
];

/** A folder with this repository's rules and none of its sources, to test the rules on files of our choosing. */
export class TrialTree {
  private readonly root = mkdtempSync(join(tmpdir(), 'causeway-rules-'));

  constructor(files: Readonly<Record<string, string>>) {
    mkdirSync(join(this.root, 'tools'));
    for (const file of CONFIGURATION) copyFileSync(join(REPO, file), join(this.root, file));
    symlinkSync(join(REPO, 'node_modules'), join(this.root, 'node_modules'));
    for (const [path, source] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, path)), { recursive: true });
      writeFileSync(join(this.root, path), source);
    }
  }

  /** Runs a program of node_modules here and parses its output. It may exit with an error if it has findings. */
  runJson(program: string, ...args: string[]): unknown {
    const file = join(this.root, 'node_modules', program);
    const { stdout, stderr } = spawnSync(process.execPath, [file, ...args], { cwd: this.root, encoding: 'utf8' });
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout);
  }

  /** A path of this tree as it was given. */
  relative(path: string): string {
    return path.replace(`${this.root}/`, '');
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
