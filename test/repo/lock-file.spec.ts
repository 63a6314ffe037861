import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const REPO = resolve(__dirname, '..', '..');

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly os?: readonly string[]; readonly integrity?: string }>>;
}

/** The lock as `npm install` writes it where the registry serves Linux only. */
function withoutOtherPlatforms(lock: LockFile): LockFile {
  const kept = Object.entries(lock.packages).filter(([, entry]) => entry.os?.includes('linux') ?? true);
  return { ...lock, packages: Object.fromEntries(kept) };
}

describe('complete-lock', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-lock-'));
  const file = join(folder, 'package-lock.json');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('puts back every package of another platform', () => {
    const whole = JSON.parse(readFileSync(join(REPO, 'package-lock.json'), 'utf8')) as LockFile;
    const partial = withoutOtherPlatforms(whole);
    expect(Object.keys(partial.packages).length).toBeLessThan(Object.keys(whole.packages).length - 20);

    writeFileSync(file, JSON.stringify(partial));
    execFileSync(process.execPath, [join(REPO, 'scripts/complete-lock.mjs'), file]);

    const completed = JSON.parse(readFileSync(file, 'utf8')) as LockFile;
    expect(Object.keys(completed.packages)).toEqual(Object.keys(whole.packages));
  });
});
