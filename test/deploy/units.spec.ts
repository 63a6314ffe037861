/*
 * Files for running it: units, image, guide.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DRAINED_EXIT_CODE } from '@causeway/agent';
import { readConfig } from '@causeway/agent/testing';
import type { Settings } from '@causeway/runtime';
import { COMMANDS } from '../../scripts/lib/package-tree.mjs';
import { globalSettings } from '../../apps/global/src/config';
import { zoneSettings } from '../../apps/zone/src/config';
import { describeWith, run, works } from '../dns/programs';

const ROOT = resolve(__dirname, '..', '..');
const PROGRAMS = ['global', 'zone', 'agent'] as const;
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const unitOf = (program: string): string => read(`deploy/systemd/causeway-${program}.service`);
/** Of `systemd-analyze security`: 100 is everything open. */
const MOST_EXPOSED = { global: 20, zone: 20, agent: 45, 'agent-cleanup': 45 };

/** The values of a setting of a unit. */
function valuesOf(unit: string, setting: string): readonly string[] {
  return [...unit.matchAll(new RegExp(`^${setting}=(.*)$`, 'gm'))].map(([, value]) => String(value));
}

describe.each(PROGRAMS)('the unit of the %s', (program) => {
  const unit = unitOf(program);

  it('starts its program, as the build makes it, and keeps its state', () => {
    const [start = ''] = valuesOf(unit, 'ExecStart');
    expect(start.split(' ')[0]).toBe(`causeway-${program}`);
    expect(Object.keys(COMMANDS)).toContain(`causeway-${program}`);
    expect(valuesOf(unit, 'StateDirectory')).toEqual([`causeway-${program}`]);
    expect(valuesOf(unit, 'RuntimeDirectory')).toEqual([`causeway-${program}`]);
    expect(valuesOf(unit, 'Restart')).toEqual(['always']);
  });
});

describe('the unit of the agent', () => {
  const unit = unitOf('agent');

  it('knows the exit code of a drained agent, which is no failure, and gives up after no number of others', () => {
    for (const setting of ['RestartPreventExitStatus', 'SuccessExitStatus'])
      expect(valuesOf(unit, setting)).toEqual([String(DRAINED_EXIT_CODE)]);
    expect(valuesOf(unit, 'Environment')).toContain('CAUSEWAY_AGENT_UNIT=%n');
    expect(valuesOf(unit, 'StartLimitIntervalSec')).toEqual(['0']);
  });

  it('ends no process but that of the agent', () => {
    expect(valuesOf(unit, 'KillMode')).toEqual(['process']);
    expect(valuesOf(unit, 'OOMPolicy')).toEqual(['continue']);
    expect(valuesOf(unit, 'RuntimeDirectoryPreserve')).toEqual(['yes']);
  });

  it('is cleaned after by a unit that is stopped with it, with its state folder', () => {
    const cleanup = unitOf('agent-cleanup');
    expect(valuesOf(unit, 'Wants')).toContain('causeway-agent-cleanup.service');
    expect(valuesOf(cleanup, 'PartOf')).toEqual(['causeway-agent.service']);
    expect(valuesOf(cleanup, 'Environment')).toEqual(['CAUSEWAY_AGENT_UNIT=causeway-agent.service']);
    expect(valuesOf(cleanup, 'StateDirectory')).toEqual(valuesOf(unit, 'StateDirectory'));
    expect(Number.parseInt(valuesOf(cleanup, 'TimeoutStopSec')[0] ?? '', 10)).toBeGreaterThan(
      Number.parseInt(valuesOf(unit, 'TimeoutStopSec')[0] ?? '', 10),
    );
  });
});

it.each([
  ['global', globalSettings],
  ['zone', zoneSettings],
] as const)('the unit of the %s gives secrets as files of settings that there are', (program, settings) => {
  const unit = unitOf(program);
  const named = [...unit.matchAll(/(\w+)_FILE=(-?)\/etc\/causeway\/(\w+)\.secrets\/[\w-]+/g)];
  for (const [, setting = '', , folder] of named) {
    expect((settings as Settings)[setting]?.secret).toBe(true);
    expect(folder).toBe(program);
  }
  // Missing, they are as if nothing was given; the database alone is needed.
  expect(named.map(([, , mayBeMissing]) => mayBeMissing)).toEqual(['', '-', '-', '-']);
});

it.each(['global', 'zone'])('the %s runs as a user that stays, whose group reads the secrets', (program) => {
  const user = `causeway-${program}`;
  expect(valuesOf(unitOf(program), 'User')).toEqual([user]);
  expect(valuesOf(unitOf(program), 'Group')).toEqual([user]);
  expect(valuesOf(unitOf(program), 'DynamicUser')).toEqual([]);
  expect(read('deploy/sysusers.d/causeway.conf')).toMatch(new RegExp(`^u ${user} +- ".+" /var/lib/${user}$`, 'm'));
  const modes = read('deploy/tmpfiles.d/causeway.conf');
  expect(modes).toMatch(new RegExp(`^z /etc/causeway/${program}\\.secrets +2750 root ${user}$`, 'm'));
  expect(modes).toMatch(new RegExp(`^z /etc/causeway/${program}\\.secrets/\\* +0640 root ${user}$`, 'm'));
});

describeWith(
  'systemd-analyze',
  works('systemd-analyze', '--version'),
  'apt-get install systemd',
)('systemd-analyze', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'causeway-units-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The unit with a Node that is here. */
  const written = (program: string): string => {
    const path = join(folder, `causeway-${program}.service`);
    const node = (_: string, setting: string): string => `${setting}=${process.execPath} causeway`;
    writeFileSync(path, unitOf(program).replace(/(ExecStart|ExecStop)=causeway/, node));
    return path;
  };

  it.each([...PROGRAMS, 'agent-cleanup'])('finds no fault in the unit of the %s', async (program) => {
    const { code, stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', written(program)]);
    const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('causeway'));
    expect([code, said]).toEqual([0, []]);
  });

  it.each([...PROGRAMS, 'agent-cleanup'] as const)('finds the unit of the %s hardened', async (program) => {
    const options = ['--offline=yes', `--threshold=${MOST_EXPOSED[program]}`, '--no-pager'];
    const { code, stdout } = await run('systemd-analyze', ['security', ...options, written(program)]);
    expect([code, code === 0 ? '' : stdout]).toEqual([0, '']);
  });
});

describe('the image of the agent', () => {
  const lines = read('deploy/agent.Dockerfile')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => /^([A-Z]+)\s+(.+)$/.exec(line)?.slice(1) ?? [line]);

  it('has instructions alone, and stands on the image of the control planes', () => {
    const known = ['ARG', 'FROM', 'USER', 'RUN', 'VOLUME', 'ENV', 'STOPSIGNAL', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'];
    expect(lines.filter(([instruction = '']) => !known.includes(instruction))).toEqual([]);
    expect(lines.slice(0, 2)).toEqual([
      ['ARG', 'BASE=causeway'],
      ['FROM', '${BASE}'],
    ]);
    expect(read('docker-compose.yml')).toContain('image: causeway\n');
  });

  it('starts the agent with its state on a volume', () => {
    const valueOf = (wanted: string): string => lines.find(([instruction]) => instruction === wanted)?.[1] ?? '';
    expect(JSON.parse(valueOf('ENTRYPOINT'))).toEqual(['causeway-agent']);
    expect(JSON.parse(valueOf('CMD'))).toEqual(['run', '-f', '/etc/causeway/agent.yaml']);
    expect(valueOf('ENV')).toBe(`CAUSEWAY_AGENT_STATE=${valueOf('VOLUME')}`);
  });
});

describe('docs/guides/vm.md', () => {
  it('has a configuration that the agent takes', () => {
    const [, text = ''] = /```yaml\n([^`]+)```/.exec(read('docs/guides/vm.md')) ?? [];
    expect(readConfig(text)).toMatchObject({
      ok: true,
      config: { dataplanes: [{ name: 'redis-1' }], dns: { port: 5_300 } },
    });
  });
});
