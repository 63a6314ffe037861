import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KnownZone } from '@causeway/agent';
import { Command } from 'commander';
import { registerDns } from './dns-command';

const CONFIG = `bundle: /etc/causeway/bundle
dataplanes:
  - {name: redis-1, address: 10.0.0.7, services: [{name: redis, port: 6379, protocol: tcp}]}
`;
const DNS = 'dns: {address: 127.0.0.1, port: 5300, suffixes: [mesh.local]}\n';
const DROP_IN = 'etc/systemd/resolved.conf.d/causeway.conf';

describe('causeway-agent dns', () => {
  let root: string;
  let [out, err]: [string[], string[]] = [[], []];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'causeway-dns-command-'));
    mkdirSync(join(root, 'run/systemd/resolve'), { recursive: true });
    mkdirSync(join(root, 'etc/systemd'), { recursive: true });
    [out, err] = [[], []];
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const file = (text: string): string => {
    const path = join(root, 'agent.yaml');
    writeFileSync(path, text);
    return path;
  };
  const run = async (...args: readonly string[]): Promise<number | undefined> => {
    let code: number | undefined;
    const program = new Command().exitOverride();
    const context = {
      environment: { envoy: {}, state: root },
      version: '0.1.0',
      signal: new AbortController().signal,
      isTerminal: false,
      print: (line: string) => out.push(line),
      printError: (line: string) => err.push(line),
    };
    registerDns(program, context, (given) => (code = given));
    await program.parseAsync(['dns', ...args, '--root', root], { from: 'user' });
    return code;
  };

  it('shows what it would write, writes it, says what to do then, and takes it back', async () => {
    const config = file(CONFIG + DNS);
    expect(await run('install', '--dry-run', '-f', config)).toBe(0);
    expect(out.join('\n')).toMatch(/^would .*\n.*DNS=127\.0\.0\.1:5300/s);
    expect(readdirSync(join(root, 'etc/systemd'))).toEqual([]);
    expect(await run('install', '-f', config)).toBe(0);
    expect(readFileSync(join(root, DROP_IN), 'utf8')).toContain('DNS=127.0.0.1:5300\nDomains=~mesh.local\n');
    expect(out.at(-1)).toBe('now run: systemctl restart systemd-resolved');
    expect(await run('install', '-f', config)).toBe(0);
    expect(out.at(-1)).toBe('nothing is to be done');
    expect(await run('uninstall')).toBe(0);
    expect(readdirSync(join(root, 'etc/systemd'))).toEqual([]);
    expect(err).toEqual([]);
  });

  it('takes the suffixes that the zone has sent where the configuration has none', async () => {
    const config = file(`${CONFIG}dns: {}\n`);
    expect(await run('install', '-f', config)).toBe(0);
    expect(err.pop()).toMatch(/^the zone has sent no suffixes yet, mesh\.local is taken/);
    expect(readFileSync(join(root, DROP_IN), 'utf8')).toContain('Domains=~mesh.local\n');
    const sent = { virtualRanges: ['241.0.0.0/8'], dnsSuffixes: ['shop.internal', 'mesh'] };
    await (await KnownZone.open(root)).update(sent);
    expect(await run('install', '-f', config)).toBe(0);
    expect(readFileSync(join(root, DROP_IN), 'utf8')).toContain('Domains=~shop.internal ~mesh\n');
    expect(err).toEqual([]);
  });

  it('refuses what it could not take back, and a configuration without names or with faults', async () => {
    expect(await run('install', '--resolver', 'resolv.conf', '-f', file(CONFIG + DNS))).toBe(1);
    expect(err.pop()).toMatch(/etc\/resolv\.conf can name no port: dns\.port must be 53; got 5300/);
    expect(await run('install', '-f', file(CONFIG))).toBe(2);
    expect(err.pop()).toMatch(/has no `dns`/);
    expect(await run('install', '-f', file(`${CONFIG}dns: {port: 0}\n`))).toBe(2);
    expect(err.pop()).toMatch(/agent\.yaml:4:\d+: dns\.port/);
    expect(await run('install')).toBe(2);
    expect(err).toEqual([expect.stringMatching(/^there is no configuration, .*--file$/)]);
    expect(out).toEqual([]);
  });
});
