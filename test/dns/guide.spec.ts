import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Resolver } from 'node:dns/promises';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/lib/ports.mjs';
import { pageExamples } from '../docs/page-examples';
import { until } from '../support/until';
import { DnsZone, generator, service } from './dns-zone';
import { canMakeNamespaces, inNamespace } from './namespace';
import { describeWhere, describeWith, run, works } from './programs';

/** The snippets of docs/guides/dns.md, each run by the program it is for. */
const page = readFileSync(join(__dirname, '..', '..', 'docs', 'guides', 'dns.md'), 'utf8');
const DEBIAN = 'apt-get install unbound dnsmasq-base';

function snippet(language: string): string {
  const [found, ...more] = pageExamples(page).flatMap(({ blocks }) => blocks.filter((b) => b.language === language));
  if (!found || more.length > 0) throw new Error(`the guide must have one snippet for ${language}`);
  return `${found.text}\n`;
}

const redis = service('redis', { ip: '241.0.0.7', hostnames: ['redis.svc.mesh.local'] });
const local = generator('local', '{{ .DisplayName }}.svc.mesh.local');
let zone: DnsZone;
let folder: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  zone = await new DnsZone(redis, local).start({ ranges: ['241.0.0.0/8'], forward: { enabled: false } });
  folder = mkdtempSync(join(tmpdir(), 'causeway-dns-'));
});

afterEach(async () => {
  if (child?.exitCode === null && child.kill()) await once(child, 'exit');
  child = undefined;
  rmSync(folder, { recursive: true });
  await zone.close();
});

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text.replaceAll('5653', String(zone.port)));
  return path;
}

/** Starts a resolver and expects that it finds the names of the zone. */
async function expectNames(program: string, args: readonly string[], port: number): Promise<void> {
  child = spawn(program, args, { stdio: 'ignore' });
  const resolver = new Resolver({ timeout: 20_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  await until(`${program} finds a name`, () =>
    resolver.resolve4('redis.svc.mesh.local').then(
      ([ip]) => ip === '241.0.0.7',
      () => false,
    ),
  );
  expect(await resolver.reverse('241.0.0.7')).toEqual(['redis.svc.mesh.local']);
  await expect(resolver.resolve6('redis.svc.mesh.local')).rejects.toMatchObject({ code: 'ENODATA' });
  await expect(resolver.resolve4('nobody.svc.mesh.local')).rejects.toMatchObject({ code: 'ENOTFOUND' });
}

describeWith(
  'unbound',
  works('unbound', '-V'),
  DEBIAN,
)('unbound', () => {
  test('finds the names of the zone', async () => {
    const port = await freePort();
    const place =
      'username: ""\n    chroot: ""\n    pidfile: ""\n    directory: ""\n    use-syslog: no\n    do-ip6: no\n';
    const own = `server:\n    interface: 127.0.0.1@${port}\n    ${place}remote-control:\n    control-enable: no\n`;
    const config = written('unbound.conf', own + snippet('unbound'));
    expect((await run('unbound-checkconf', [config])).stdout).toContain('no errors');
    await expectNames('unbound', ['-d', '-c', config], port);
  });
});

describeWith(
  'dnsmasq',
  works('dnsmasq', '--version'),
  DEBIAN,
)('dnsmasq', () => {
  test('finds the names of the zone', async () => {
    const port = await freePort();
    const config = written('dnsmasq.conf', snippet('dnsmasq'));
    expect((await run('dnsmasq', ['--test', `--conf-file=${config}`])).stderr).toContain('syntax check OK');
    const own = [
      `--port=${port}`,
      '--listen-address=127.0.0.1',
      '--bind-interfaces',
      '--no-hosts',
      '--no-resolv',
      '--pid-file',
    ];
    const user = `--user=${userInfo().username}`;
    await expectNames('dnsmasq', ['--keep-in-foreground', `--conf-file=${config}`, user, ...own], port);
  });
});

(canMakeNamespaces ? test : test.skip)('resolv.conf: programs find the names of the zone', async () => {
  const [found] = await inNamespace(snippet('resolv.conf'), [['getent', 'hosts', 'redis.svc.mesh.local']]);
  expect(found?.stdout).toMatch(/^241\.0\.0\.7\s+redis\.svc\.mesh\.local/);
});

const resolved = process.env['SYSTEMD_RESOLVED'];

describeWhere(
  'systemd-resolved',
  canMakeNamespaces && resolved !== undefined,
  'set SYSTEMD_RESOLVED to what test/dns/unpack-resolved.sh prints, with the right to make network namespaces',
)('systemd-resolved', () => {
  test('finds the names of the zone, and so do the programs that ask it', async () => {
    const config = written('mesh.conf', snippet('resolved'));
    const questions = [
      'getent ahostsv4 redis.svc.mesh.local',
      'dig +short @127.0.0.53 -x 241.0.0.7',
      'dig @127.0.0.53 redis.svc.mesh.local AAAA',
      'dig @127.0.0.53 nobody.svc.mesh.local',
    ];
    const beside = ['sh', join(__dirname, 'with-resolved.sh'), resolved ?? '', config, 'sh', '-c', questions.join(';')];
    const [found] = await inNamespace('nameserver 127.0.0.53\n', [beside], zone.port);
    expect(found?.stdout).toMatch(/^241\.0\.0\.7\s+STREAM redis\.svc\.mesh\.local$/m);
    expect(found?.stdout).toMatch(/^redis\.svc\.mesh\.local\.$/m);
    expect(found?.stdout.match(/status: \w+|ANSWER: \d/g)).toEqual([
      'status: NOERROR',
      'ANSWER: 0',
      'status: NXDOMAIN',
      'ANSWER: 0',
    ]);
  });
});

describeWhere(
  'CoreDNS',
  works('coredns', '-version'),
  'go install github.com/coredns/coredns@v1.12.0, with its program on the PATH',
)('CoreDNS', () => {
  test('finds the names of the zone', async () => {
    const port = await freePort();
    const config = written('Corefile', snippet('corefile'));
    await expectNames('coredns', ['-dns.port', String(port), '-conf', config], port);
  });
});
