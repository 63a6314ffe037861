import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { buildPackages } from '../../scripts/lib/system/system-packages.mjs';
import { describeWhere, works } from '../dns/programs';
import { Machine } from './machine';

const ROOT = resolve(__dirname, '..', '..');
/** The tree that `tree.sh` has made. */
const TREE = join(process.env['CAUSEWAY_DEBIAN_TREES'] ?? '/var/tmp/causeway-debian', 'trixie');

describeWhere(
  'a tree of Debian, dpkg-deb and rpmbuild',
  process.getuid?.() === 0 && existsSync(TREE) && works('rpmbuild', '--version') && works('unshare', '--mount', 'true'),
  'as root, sh test/install/tree.sh; apt-get install rpm',
)('the packages of systems', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-packages-'));
  let made: { readonly deb?: string; readonly rpm?: string };
  beforeAll(() => void (made = buildPackages(ROOT, folder, ['deb', 'rpm'])));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('are of one tree: programs, units, users, completion, manual, alert rules and dashboards', () => {
    const { deb = '', rpm = '' } = made;
    const [ofDeb, ofRpm] = [join(folder, 'deb'), join(folder, 'rpm')];
    execFileSync('dpkg-deb', ['-x', deb, ofDeb]);
    mkdirSync(ofRpm);
    execFileSync('sh', ['-c', `rpm2archive ${rpm} && tar -xzf ${rpm}.tgz -C ${ofRpm}`]);
    expect(execFileSync('diff', ['-r', '--no-dereference', ofDeb, ofRpm], { encoding: 'utf8' })).toBe('');
    const program = join(ofRpm, 'usr/bin/causeway');
    expect(execFileSync(process.execPath, [program, 'version', '--client'], { encoding: 'utf8' })).toMatch(/causeway/);
    const page = gunzipSync(readFileSync(join(ofDeb, 'usr/share/man/man1/causeway.1.gz'))).toString();
    expect(page).toMatch(/^\.TH CAUSEWAY 1/);
    expect(page).toContain('.SH "CAUSEWAY ZONE"');
  });

  it('make users and give them the secrets, and leave these alone when they are removed', () => {
    const layer = mkdtempSync(join(tmpdir(), 'causeway-layer-'));
    const args = ['--mount', 'sh', join(__dirname, 'packages.sh'), TREE, layer, made.deb ?? '', made.rpm ?? ''];
    const said = execFileSync('unshare', args, { encoding: 'utf8' });
    rmSync(layer, { recursive: true });
    const [, ...steps] = said.split('--- ').map((part) => part.trim().split('\n'));
    const files = [
      'usr/bin/causeway root:root 755',
      'usr/lib/systemd/system/causeway-zone.service root:root 644',
      'usr/share/man/man1/causeway.1.gz root:root 644',
      'usr/share/causeway/prometheus/alerts.yaml root:root 644',
      'usr/share/causeway/grafana/overview.json root:root 644',
      'usr/share/bash-completion/completions/causeway root:root 644',
    ].map((file) => `file ${file}`);
    const users = ['user causeway-global', 'user causeway-zone'];
    const secrets = [
      '/etc/causeway/zone.secrets root:causeway-zone 2750',
      '/etc/causeway/zone.secrets/zone-token root:causeway-zone 640',
    ];
    expect(steps).toEqual([
      ['the .deb is installed', ...users, ...files, ...secrets],
      ['the .deb is removed', ...users, ...secrets],
      ['the .rpm is installed', ...users, ...files, ...secrets, 'rpm -V: as it was built'],
      ['the .rpm is removed', ...users, ...secrets],
    ]);
  });

  it('the .deb is known to a systemd that runs, and its removal ends and disables what runs', async () => {
    const machine = await Machine.start(TREE, made.deb ?? '');
    try {
      const run = async (script: string): Promise<string> =>
        (await machine.run(script, 'own network', () => undefined)).output.trim();
      expect(await run('dpkg --force-depends -i /root/causeway_*.deb >/dev/null 2>&1; dpkg-query -W causeway')).toMatch(
        /^causeway/,
      );
      expect(await run('systemctl is-enabled causeway-global causeway-zone causeway-agent || true')).toBe(
        'disabled\ndisabled\ndisabled',
      );
      await run('mkdir -p /etc/systemd/system/causeway-zone.service.d');
      await run(
        'printf "[Service]\\nExecStart=\\nExecStart=sleep infinity\\n" >/etc/systemd/system/causeway-zone.service.d/test.conf',
      );
      expect(
        await run(
          'systemctl daemon-reload && systemctl enable --now causeway-zone 2>/dev/null; systemctl is-active causeway-zone',
        ),
      ).toBe('active');
      expect(await run('stat -c %U /proc/$(systemctl show -P MainPID causeway-zone)')).toBe('causeway-zone');
      await run('dpkg -r causeway >/dev/null 2>&1');
      expect(await run('systemctl is-active causeway-zone || true')).not.toBe('active');
      expect(await run('ls /etc/systemd/system/multi-user.target.wants | grep causeway || true')).toBe('');
    } finally {
      await machine.close();
    }
  });
});
