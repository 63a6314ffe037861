import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '@causeway/runtime/testing';
import { readSystemUnit, SystemUnit, writeUnitName } from './system-unit';

const NAME = 'causeway-agent.service';

/** A unit whose state and job are those that a test sets, as systemctl prints them. */
class FakeSystemctl {
  state = 'active';
  job: string | undefined;
  readonly asked: string[] = [];

  readonly run = async (args: readonly string[]): Promise<string> => {
    this.asked.push(args.join(' '));
    const [verb] = args;
    if (verb === 'show') return `${this.state}\n`;
    if (verb !== 'list-jobs') return '';
    // The unit of the cleanup has a job too.
    const other = '  7 causeway-agent-cleanup.service stop waiting\n';
    return this.job === undefined ? other : `${other}123 ${NAME} ${this.job} running\n`;
  };
}

/** Lets time pass until what is asked meanwhile has been answered. */
async function pass(clock: FakeClock): Promise<void> {
  for (let n = 0; n < 5; n++) {
    await new Promise((done) => setImmediate(done));
    clock.advance(100);
  }
  await new Promise((done) => setImmediate(done));
}

describe('SystemUnit', () => {
  it.each([
    ['restart', true],
    ['try-restart', true],
    ['stop', false],
    [undefined, false],
  ])('tells a restart from a stop: the job %s', async (job, is) => {
    const systemctl = Object.assign(new FakeSystemctl(), { job });
    expect(await new SystemUnit(NAME, systemctl.run).isRestarting()).toBe(is);
  });

  it('is no restart where systemd does not answer', async () => {
    const unit = new SystemUnit(NAME, () => Promise.reject(new Error('there is no systemctl')));
    expect(await unit.isRestarting()).toBe(false);
  });

  it.each([
    ['inactive', undefined, true],
    ['failed', undefined, true],
    ['inactive', 'stop', true],
    ['active', undefined, false],
  ])('has ended or not: %s with the job %s', async (state, job, has) => {
    const systemctl = Object.assign(new FakeSystemctl(), { state, job });
    expect(await new SystemUnit(NAME, systemctl.run).hasEnded(new FakeClock())).toBe(has);
  });

  it.each([
    ['waits for its restart, and is stopped', ['activating', undefined], ['inactive', true]],
    ['waits for its restart, and starts', ['activating', undefined], ['active', false]],
    ['is ended by a stop', ['deactivating', 'stop'], ['inactive', true]],
    ['is between the two halves of a restart', ['inactive', 'start'], ['active', false]],
  ] as const)('is decided later while it %s', async (_, [state, job], [later, has]) => {
    const systemctl = Object.assign(new FakeSystemctl(), { state, job });
    const clock = new FakeClock();
    let answer: boolean | undefined;
    const asked = new SystemUnit(NAME, systemctl.run).hasEnded(clock).then((is) => (answer = is));
    await pass(clock);
    expect(answer).toBeUndefined();
    Object.assign(systemctl, { state: later, job: undefined });
    await pass(clock);
    await asked;
    expect(answer).toBe(has);
  });

  it('is disabled and stopped at once, but not where systemd does not know it', async () => {
    const systemctl = new FakeSystemctl();
    await new SystemUnit(NAME, systemctl.run).disable();
    expect(systemctl.asked.at(-1)).toBe(`disable --now --quiet ${NAME}`);
    systemctl.state = 'not-found';
    systemctl.asked.length = 0;
    await new SystemUnit(NAME, systemctl.run).disable();
    expect(systemctl.asked.filter((each) => each.startsWith('disable'))).toEqual([]);
  });
});

describe('the unit of a state folder', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'causeway-unit-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is that of the last run', async () => {
    await writeUnitName(folder, NAME);
    expect((await readSystemUnit(folder))?.name).toBe(NAME);
    await writeUnitName(folder, undefined);
    expect(await readSystemUnit(folder)).toBeUndefined();
  });

  it.each(['', '--force', 'a b.service', '-H evil.service', 'x.socket', '-x.service'])(
    'is none where the file says %j',
    async (text) => {
      writeFileSync(join(folder, 'unit'), text);
      expect(await readSystemUnit(folder)).toBeUndefined();
    },
  );
});
