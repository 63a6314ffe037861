import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL_PACKAGES, install, isInstalled, RUN_PACKAGES } from '../../scripts/lib/install.mjs';

/** A project with a package that its programs need and one that its tests do, both in files beside it: no registry is asked. */
describe('the packages that `npm start` and `npm test` install', () => {
  const root = mkdtempSync(join(tmpdir(), 'causeway-install-'));
  const lock = join(root, 'package-lock.json');
  const inModules = (...path: readonly string[]): string => join(root, 'node_modules', ...path);
  const writeJson = (file: string, value: unknown): void => writeFileSync(file, JSON.stringify(value));
  const installed = (): readonly boolean[] => [isInstalled(root, RUN_PACKAGES), isInstalled(root, ALL_PACKAGES)];
  const npm = (...args: readonly string[]): void => void execFileSync('npm', args, { cwd: root, stdio: 'ignore' });

  beforeAll(() => {
    const folder = join(root, 'package');
    mkdirSync(folder);
    for (const name of ['needed', 'for-tests']) {
      writeJson(join(folder, 'package.json'), { name, version: '1.0.0' });
      execFileSync('tar', ['-czf', `${name}.tgz`, 'package'], { cwd: root });
    }
    writeJson(join(root, 'package.json'), {
      dependencies: { needed: 'file:needed.tgz' },
      devDependencies: { 'for-tests': 'file:for-tests.tgz' },
    });
    npm('install', '--package-lock-only', '--offline');
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it('are those of the programs for a start', async () => {
    expect(installed()).toEqual([false, false]);
    await install(root, RUN_PACKAGES);
    expect(existsSync(inModules('for-tests'))).toBe(false);
    expect(installed()).toEqual([true, false]);
  });

  it('are added for tests, while those of the programs stay as they are', async () => {
    const before = readFileSync(lock, 'utf8');
    writeFileSync(inModules('needed', 'in-use'), '');
    await install(root, ALL_PACKAGES);
    expect(existsSync(inModules('needed', 'in-use'))).toBe(true);
    expect(installed()).toEqual([true, true]);
    expect(readFileSync(lock, 'utf8')).toBe(before);
  });

  it('are made anew where the addition was cut short, for a start too', async () => {
    rmSync(inModules(), { recursive: true });
    await install(root, RUN_PACKAGES);
    const cut = new AbortController();
    const adding = install(root, ALL_PACKAGES, cut.signal);
    cut.abort();
    await expect(adding).rejects.toThrow(/aborted/);
    expect(installed()).toEqual([false, false]);
    await install(root, ALL_PACKAGES);
    expect(installed()).toEqual([true, true]);
  });

  it('are made anew where npm was ended before its record', async () => {
    rmSync(inModules('.package-lock.json'));
    expect(installed()).toEqual([false, false]);
    await install(root, RUN_PACKAGES);
    expect(existsSync(inModules('for-tests'))).toBe(false);
    expect(installed()).toEqual([true, false]);
  });

  it('say in words that no registry answers', async () => {
    const { packages, ...head } = JSON.parse(readFileSync(lock, 'utf8')) as { readonly packages: object };
    const dependencies = { 'far-away': '1.0.0' };
    writeJson(join(root, 'package.json'), { dependencies });
    writeJson(lock, {
      ...head,
      packages: { ...packages, '': { dependencies }, 'node_modules/far-away': { version: '1.0.0' } },
    });
    writeFileSync(join(root, '.npmrc'), 'registry=http://127.0.0.1:9\nfetch-retries=0\n');
    expect(installed()).toEqual([false, false]);
    await expect(install(root, RUN_PACKAGES)).rejects.toThrow(
      /^npm ci could not reach http:\/\/127\.0\.0\.1:9\/far-away \(ECONNREFUSED\): the first start needs the network.*$/,
    );
  });
});
