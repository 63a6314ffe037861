import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateFolder } from './state-folder';

describe('the state folder of an agent', () => {
  let parent = '';
  const warnings: unknown[] = [];
  const logger = { warn: (message: string, fields?: object) => void warnings.push([message, fields]) };
  const modeOf = async (folder: string): Promise<number> => (await stat(folder)).mode & 0o777;
  beforeEach(async () => {
    warnings.length = 0;
    parent = await mkdtemp(join(tmpdir(), 'causeway-state-'));
  });
  afterEach(() => rm(parent, { recursive: true }));

  it('is made for its user alone', async () => {
    const folder = join(parent, 'a', 'b');
    await openStateFolder(folder, logger);
    expect([await modeOf(folder), warnings]).toEqual([0o700, []]);
    await chmod(folder, 0o500);
    await openStateFolder(folder, logger);
    expect([await modeOf(folder), warnings]).toEqual([0o500, []]);
  });

  it.each([0o777, 0o755, 0o701, 0o710])(
    'is closed to others where its mode is %o, and the log says so',
    async (mode) => {
      const folder = join(parent, 'open');
      await mkdir(folder);
      await chmod(folder, mode);
      await openStateFolder(folder, logger);
      expect(await modeOf(folder)).toBe(0o700);
      const fields = { state: folder, mode: `0${mode.toString(8)}` };
      expect(warnings).toEqual([[expect.stringContaining('was open to other users'), fields]]);
    },
  );

  it('is refused where it is another user’s', async () => {
    const { getuid } = process;
    process.getuid = () => 54_321;
    try {
      await expect(openStateFolder(parent, logger)).rejects.toThrow(
        /belongs to user \d+, the agent is user 54321: give it one/,
      );
    } finally {
      if (getuid) process.getuid = getuid;
    }
  });
});
