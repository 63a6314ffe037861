import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QuickstartRun } from './quickstart-run';

/** Small disks are mounted in a private mount namespace: that takes root, on Linux. */
const canMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

(canMount ? describe : describe.skip)('npm start on a disk that cannot be used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-disk-'));
  beforeAll(() => chmodSync(folder, 0o755));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function startOn(mountOptions: string): QuickstartRun {
    const mount = `mount -t tmpfs -o ${mountOptions} none "$1" && shift && exec "$@"`;
    const starter = [process.execPath, 'scripts/start.mjs'];
    return new QuickstartRun(['unshare', '-m', 'sh', '-c', mount, 'sh', folder, ...starter], {
      CAUSEWAY_DATA_DIR: folder,
    });
  }

  it.each([
    [
      'has no room for logs',
      'size=5m',
      /^the disk is full that holds F \(the data folder\), [45] MB are free, 10 MB are needed: /,
    ],
    [
      'has no room for a cluster',
      'size=60m',
      /^the disk is full that holds F\/postgres \(Postgres makes its data folder\), 6\d MB are free, 150 MB are needed: /,
    ],
    [
      'has room for few files',
      'size=300m,nr_inodes=200',
      /^the disk is full that holds F\/postgres \(Postgres makes its data folder\), \d+ MB are free, \d+ more files fit, 150 MB are needed: /,
    ],
    ['is read-only', 'ro', /^the file system of F \(the data folder\) is read-only: /],
  ])('says in one line what it lacks: it %s', async (_, options, line) => {
    const run = startOn(options);
    expect(await run.exit).toBe(1);
    const said = run.output.split('\n').filter((each) => each.startsWith('causeway: '));
    expect(said).toHaveLength(1);
    expect(said[0]?.slice('causeway: '.length).replace(folder, 'F')).toMatch(line);
    expect(said[0]).toMatch(/set CAUSEWAY_DATA_DIR to a folder on another disk$/);
    expect(run.output).not.toMatch(/^ +at /m);
    await run.untilGone();
  });
});
