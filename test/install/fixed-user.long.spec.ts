import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describeWhere, works } from '../dns/programs';
import { until } from '../support/until';
import { Machine } from './machine';

const ROOT = resolve(__dirname, '..', '..');
/** The tree that `tree.sh` has made. */
const TREE = join(process.env['CAUSEWAY_DEBIAN_TREES'] ?? '/var/tmp/causeway-debian', 'trixie');
const UNIT = '/etc/systemd/system/causeway-zone.service';
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** In place of the program: shows in the state folder what it reads of a secret. */
const PROGRAM = `/bin/sh -c 'while cat /etc/causeway/zone.secrets/zone-token >seen; do sleep 0.1; done'`;

describeWhere(
  'a machine with systemd',
  process.getuid?.() === 0 && existsSync(TREE) && works('unshare', '--mount', 'true'),
  'as root, sh test/install/tree.sh',
)('the unit of the zone, on a machine', () => {
  const unit = read('deploy/systemd/causeway-zone.service').replace('ExecStart=causeway-zone', `ExecStart=${PROGRAM}`);
  let folder: string;
  let machine: Machine;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-fixed-user-'));
    writeFileSync(join(folder, 'package'), '');
    machine = await Machine.start(TREE, join(folder, 'package'));
  });
  afterAll(async () => {
    await machine?.close();
    rmSync(folder, { recursive: true });
  });

  /** Runs a script of root there, and resolves with what it says. */
  async function run(script: string): Promise<string> {
    const { code, output } = await machine.run(script, 'own network', () => undefined);
    if (code !== 0) throw new Error(`${script}: ${output}`);
    return output.trim();
  }
  const put = (path: string, text: string): Promise<string> =>
    run(`mkdir -p $(dirname ${path}) && cat >${path} <<'TEXT'\n${text}TEXT\n`);

  it('takes over the state folder and the secrets of a unit with DynamicUser, and reads a replaced secret', async () => {
    await run(
      'mkdir -p /etc/causeway && install -d -m 700 /etc/causeway/zone.secrets && umask 077 && echo one >/etc/causeway/zone.secrets/zone-token',
    );
    const before = unit
      .replace(/^User=.*\n^Group=.*$/m, 'DynamicUser=yes')
      .replace(/^Environment=.*\n/gm, '')
      .replaceAll('/etc/causeway/zone.secrets/zone-token >seen', '%d/zone-token >seen');
    await put(UNIT, before);
    await run('systemctl daemon-reload && systemctl start causeway-zone');
    const state = '/var/lib/causeway-zone';
    await until('the unit of before runs', async () => (await run(`cat ${state}/seen || true`)) === 'one');
    expect(await run(`stat -c %F ${state}`)).toBe('symbolic link');
    await run(`echo kept >${state}/own && chown --reference=${state}/seen ${state}/own && chmod 600 ${state}/own`);

    await put(UNIT, unit);
    for (const kind of ['sysusers', 'tmpfiles'])
      await put(`/etc/${kind}.d/causeway.conf`, read(`deploy/${kind}.d/causeway.conf`));
    await run('systemd-sysusers causeway.conf && systemd-tmpfiles --create causeway.conf && systemctl daemon-reload');
    await run(`rm ${state}/seen && systemctl restart causeway-zone`);
    await until('the unit runs', async () => (await run(`cat ${state}/seen || true`)) === 'one');
    expect(await run(`cat ${state}/own`)).toBe('kept');
    expect(await run(`stat -c '%F %U' ${state} ${state}/own ${state}/seen`)).toBe(
      'directory causeway-zone\nregular file causeway-zone\nregular file causeway-zone',
    );
    expect(await run(`test -e /var/lib/private/causeway-zone || echo moved`)).toBe('moved');

    const file = '/etc/causeway/zone.secrets/zone-token';
    const started = await run('systemctl show --property MainPID --value causeway-zone');
    await run(`umask 027 && echo two >${file}.new && mv ${file}.new ${file}`);
    expect(await run(`stat -c '%U:%G %a' ${file}`)).toBe('root:causeway-zone 640');
    await until('the replaced secret is read', async () => (await run(`cat ${state}/seen`)) === 'two');
    expect(await run('systemctl show --property MainPID --value causeway-zone')).toBe(started);
    const others = await run(`setpriv --reuid nobody --regid nogroup --clear-groups cat ${file} 2>&1 || true`);
    expect(others).toContain('Permission denied');
  });
});
