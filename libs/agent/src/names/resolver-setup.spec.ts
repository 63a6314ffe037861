import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { applySteps, ResolverSetup, type ResolverSetupOptions } from './resolver-setup';

const ORIGINAL = '# mine\nnameserver 10.0.0.53\noptions ndots:2\n\nsearch  corp.example\n';
const DNS = { address: '127.0.0.1', port: 5_300, suffixes: ['mesh.local', 'mesh'], upstream: [] };
const AT_53 = { ...DNS, port: 53, upstream: ['10.0.0.53:53'] };

describe('the resolver of a machine', () => {
  let root: string;
  const path = (name: string): string => join(root, name);
  const put = async (name: string, text: string): Promise<void> => {
    await mkdir(dirname(path(name)), { recursive: true });
    await writeFile(path(name), text);
  };
  const text = (name: string): Promise<string> => readFile(path(name), 'utf8');
  const setup = (given: Partial<ResolverSetupOptions> = {}): ResolverSetup =>
    new ResolverSetup({ root, dns: DNS, ...given });
  const install = async (of: ResolverSetup): Promise<number> => {
    const { steps } = await of.planInstall();
    await applySteps(steps);
    return steps.length;
  };
  const uninstall = async (of: ResolverSetup): Promise<number> => {
    const { steps } = await of.planUninstall();
    await applySteps(steps);
    return steps.length;
  };
  /** Every file and folder, with content and mode. */
  const snapshot = async (): Promise<readonly string[]> => {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const lines = entries.map(async (entry) => {
      const at = join(entry.parentPath, entry.name);
      const { mode } = await lstat(at);
      return `${at} ${mode.toString(8)} ${entry.isFile() ? await readFile(at, 'base64') : ''}`;
    });
    return (await Promise.all(lines)).sort();
  };

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'causeway-resolver-'));
    await put('etc/resolv.conf', ORIGINAL);
    await chmod(path('etc/resolv.conf'), 0o640);
  });
  afterEach(() => rm(root, { recursive: true }));

  const ways: readonly (readonly [string, () => Promise<ResolverSetup>])[] = [
    [
      'systemd-resolved, whose folder is missing',
      async () => {
        await mkdir(path('run/systemd/resolve'), { recursive: true });
        await mkdir(path('etc/systemd'), { recursive: true });
        return setup();
      },
    ],
    [
      'systemd-resolved with files of others',
      async () => {
        await put('etc/systemd/resolved.conf.d/other.conf', '[Resolve]\nDNSSEC=no\n');
        return setup({ resolver: 'resolved' });
      },
    ],
    ['resolv.conf', () => Promise.resolve(setup({ dns: AT_53 }))],
  ];

  it.each(ways)('%s: is as before after a removal, whenever the installation or the removal died', async (_, make) => {
    const of = await make();
    const before = await snapshot();
    const { steps } = await of.planInstall();
    expect(steps.length).toBeGreaterThan(1);
    for (let done = 0; done <= steps.length; done++) {
      await applySteps((await of.planInstall()).steps.slice(0, done));
      // A removal that dies after each of its steps.
      const { length } = (await of.planUninstall()).steps;
      for (let removed = 0; removed < length; removed++) await applySteps((await of.planUninstall()).steps.slice(0, 1));
      await uninstall(of);
      expect(await snapshot()).toEqual(before);
    }
  });

  it.each(ways)('%s: a half-written file of an installation that died is no obstacle', async (_, make) => {
    const of = await make();
    const before = await snapshot();
    const { steps } = await of.planInstall();
    const write = steps.findLast((step) => step.do === 'write');
    await applySteps(steps.slice(0, steps.length - 2));
    if (write) await writeFile(write.path, '# Writ');
    await install(of);
    await uninstall(of);
    expect(await snapshot()).toEqual(before);
  });

  it.each(ways)('%s: a second installation and a second removal change nothing', async (_, make) => {
    const of = await make();
    await install(of);
    const installed = await snapshot();
    expect(await install(of)).toBe(0);
    expect(await snapshot()).toEqual(installed);
    await uninstall(of);
    expect(await uninstall(of)).toBe(0);
  });

  it('systemd-resolved gets a drop-in file for the suffixes alone', async () => {
    await install(setup({ resolver: 'resolved' }));
    const lines = (await text('etc/systemd/resolved.conf.d/causeway.conf')).split('\n');
    expect(lines.filter((line) => !line.startsWith('#') && line !== '')).toEqual([
      '[Resolve]',
      'DNS=127.0.0.1:5300',
      'Domains=~mesh.local ~mesh',
    ]);
    const other = setup({ resolver: 'resolved', dns: { ...DNS, address: '::1' } });
    expect(await install(other)).toBeGreaterThan(0);
    expect(await text('etc/systemd/resolved.conf.d/causeway.conf')).toContain('DNS=[::1]:5300');
    expect((await other.planUninstall()).next).toBe('systemctl restart systemd-resolved');
  });

  it('resolv.conf names the agent alone, keeps the options, its owner and its mode', async () => {
    await install(setup({ dns: AT_53 }));
    const lines = (await text('etc/resolv.conf')).split('\n').filter((line) => !line.startsWith('#') && line !== '');
    expect(lines).toEqual(['nameserver 127.0.0.1', 'options ndots:2', 'search  corp.example']);
    expect((await lstat(path('etc/resolv.conf'))).mode & 0o777).toBe(0o640);
    expect(await text('etc/resolv.conf.before-causeway')).toBe(ORIGINAL);
  });

  it.each<[string, RegExp, () => Promise<Partial<ResolverSetupOptions>>]>([
    ['a port that resolv.conf cannot name', /must be 53; got 5300/, async () => ({})],
    ['no upstreams', /dns.upstream must name servers/, async () => ({ dns: { ...AT_53, upstream: [] } })],
    [
      'a link',
      /is a link/,
      async () => {
        await rm(path('etc/resolv.conf'));
        await symlink('../run/resolv.conf', path('etc/resolv.conf'));
        return { dns: AT_53 };
      },
    ],
    [
      'a file of another program',
      /is written by another program/,
      async () => {
        await put('etc/resolv.conf', '# Generated by NetworkManager\nnameserver 10.0.0.1\n');
        return { dns: AT_53 };
      },
    ],
    [
      "a drop-in file of somebody else's",
      /is not of the agent/,
      async () => {
        await put('etc/systemd/resolved.conf.d/causeway.conf', '[Resolve]\n');
        return { resolver: 'resolved' as const };
      },
    ],
  ])('is not touched with %s', async (_what, reason, prepare) => {
    const given = await prepare();
    const before = await snapshot();
    await expect(setup(given).planInstall()).rejects.toMatchObject({
      violations: [expect.objectContaining({ reason: expect.stringMatching(reason) })],
    });
    expect(await snapshot()).toEqual(before);
  });

  it.each([
    ['resolv.conf', 'etc/resolv.conf', AT_53],
    ['resolved', 'etc/systemd/resolved.conf.d/causeway.conf', DNS],
  ] as const)('%s: what somebody changed after the installation is left to them', async (resolver, file, dns) => {
    const of = setup({ resolver, dns });
    await install(of);
    await writeFile(path(file), `${await text(file)}# a change\n`);
    const changed = await snapshot();
    for (const plan of [of.planInstall(), of.planUninstall()])
      await expect(plan).rejects.toMatchObject({ violations: [expect.objectContaining({ field: path(file) })] });
    expect(await snapshot()).toEqual(changed);
  });
});
