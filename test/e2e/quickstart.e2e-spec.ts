import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasRedisServer } from '../../scripts/lib/redis.mjs';
import { adminFetch } from '../support/admin-credential';
import { until } from '../support/until';
import { QuickstartRun } from './quickstart-run';

interface Service {
  readonly status: {
    readonly vip: { readonly ip: string };
    readonly addresses: readonly { readonly hostname?: string; readonly status: string }[];
  };
}

async function get<T>(url: string): Promise<T | undefined> {
  const response = await adminFetch(url);
  return response.ok ? ((await response.json()) as T) : undefined;
}

const serviceUrl = (rest: string, name: string, zone: string): string =>
  `${rest}/meshes/default/meshservices/${name}?zone=${zone}`;

async function serviceOf(rest: string, name: string, zone: string): Promise<Service> {
  return until(`${name} of ${zone} has an address`, async () => {
    const service = await get<Service>(serviceUrl(rest, name, zone));
    return service?.status?.vip && (service.status.addresses ?? []).length > 0 && service;
  });
}

const hostnames = ({ status }: Service): readonly string[] =>
  status.addresses.filter(({ status: shown }) => shown === 'Available').map(({ hostname = '' }) => hostname);

function dataplane(name: string, service: string): string {
  const inbound = [{ port: 80, tags: { 'kuma.io/service': service, 'kuma.io/protocol': 'http' } }];
  return JSON.stringify({
    type: 'Dataplane',
    mesh: 'default',
    name,
    spec: { networking: { address: '10.9.9.9', inbound } },
  });
}

/** The commands of the tour: lines that are indented below its steps, each with its document. */
function tourOf(page: string): readonly string[] {
  const [, section = ''] = page.split('\n## Ten minutes\n');
  const [tour = ''] = section.split('\n## ');
  const lines = tour
    .split('\n')
    .filter((line) => line.startsWith(' '.repeat(7)))
    .map((line) => line.slice(7));
  const commands: string[] = [];
  let document = false;
  for (const line of lines) {
    if (document) commands.push(`${commands.pop()}\n${line}`);
    else commands.push(line);
    document = document ? line !== 'EOF' : line.endsWith('<<EOF');
  }
  return commands;
}

describe('npm start', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-quickstart-'));
  const settings = { CAUSEWAY_DATA_DIR: dataDir };
  const runs: QuickstartRun[] = [];
  const start = (
    command: readonly [string, ...string[]],
    own: Readonly<Record<string, string>> = settings,
  ): QuickstartRun => {
    const run = new QuickstartRun(command, own);
    runs.push(run);
    return run;
  };
  const starter = [process.execPath, 'scripts/start.mjs'] as const;
  let vips: readonly string[] = [];
  const vipsOf = (run: QuickstartRun): Promise<readonly string[]> =>
    Promise.all(
      ['east', 'west'].flatMap((zone) =>
        [
          ['redis', 'east'],
          ['web', 'east'],
          ['payments', 'west'],
        ].map(async ([name = '', origin = '']) => (await serviceOf(run.restUrl(zone), name, origin)).status.vip.ip),
      ),
    );

  beforeAll(() => chmodSync(dataDir, 0o755));
  afterAll(async () => {
    for (const run of runs) run.signal('SIGTERM');
    await Promise.all(runs.map((run) => run.untilGone()));
    rmSync(dataDir, { recursive: true, force: true });
  });

  describe('for the first time', () => {
    beforeAll(async () => {
      await start(starter).untilRunning();
    });
    const run = (): QuickstartRun => runs[0] as QuickstartRun;

    it.each(['global', 'east', 'west'])('has nothing refused in the audit log of %s', async (plane) => {
      const url = run().restUrl(plane);
      expect(await get(`${url}/_audit?result=refused`)).toMatchObject({ items: [] });
    });

    it('shows what each zone sees', () => {
      const [, east = '', west = ''] = run().output.split(/What zone \w+ sees/);
      expect(east).toMatch(/redis +east +127\.\d+\.\d+\.\d+ +redis\.default\.svc\.mesh\.east +Available/);
      expect(east).toMatch(/redis\.svc\.mesh\.local +Available/);
      expect(east).toMatch(/payments +west +127\.\S+ +payments\.svc\.west\.mesh\.local +Available/);
      expect(west).toMatch(/redis\.svc\.east\.mesh\.local +Available/);
      expect(west).toMatch(/payments +west +127\.\S+ +payments\.svc\.mesh\.local +Available/);
    });

    it('says where gRPC listens, and where only this account may read the tokens of administrators', () => {
      for (const plane of ['global', 'east', 'west']) {
        expect(run().output).toMatch(
          new RegExp(`^ {2}${plane} +http://\\S+ +grpc://127\\.0\\.0\\.1:\\d+ +http://`, 'm'),
        );
        const file = new RegExp(`^ {2}${plane} +(/\\S+\\.token)$`, 'm').exec(run().output)?.[1] ?? '';
        expect(statSync(file).mode & 0o777).toBe(0o600);
      }
    });

    it('gives a service of east an address and its names in west', async () => {
      const redis = await serviceOf(run().restUrl('west'), 'redis', 'east');
      expect(redis.status.vip.ip).toMatch(/^127\./);
      expect([...hostnames(redis)].sort()).toEqual(['redis.default.svc.mesh.east', 'redis.svc.east.mesh.local']);
    });

    it('gives it its own names at home', async () => {
      const redis = await serviceOf(run().restUrl('east'), 'redis', 'east');
      expect([...hostnames(redis)].sort()).toEqual(['redis.default.svc.mesh.east', 'redis.svc.mesh.local']);
    });

    it('hands no address out twice', async () => {
      vips = await vipsOf(run());
      expect(new Set(vips.slice(0, 3)).size).toBe(3);
      expect(new Set(vips.slice(3)).size).toBe(3);
    });

    it('shows in west what is registered in east while it runs', async () => {
      const url = `${run().restUrl('east')}/meshes/default/dataplanes/cart-1`;
      const headers = { 'content-type': 'application/json' };
      expect((await adminFetch(url, { method: 'PUT', headers, body: dataplane('cart-1', 'cart') })).status).toBe(201);
      const cart = await serviceOf(run().restUrl('west'), 'cart', 'east');
      expect(hostnames(cart)).toContain('cart.svc.east.mesh.local');
    });

    it('takes what its user stores, also a generator that reads a label no service has', async () => {
      const spec = { selector: { meshService: { labels: {} } }, template: '{{ label "nobody-has-it" }}.mesh' };
      const body = JSON.stringify({ type: 'HostnameGenerator', name: 'labelled', spec });
      const url = `${run().restUrl('global')}/hostnamegenerators/labelled`;
      const headers = { 'content-type': 'application/json' };
      expect((await adminFetch(url, { method: 'PUT', headers, body })).status).toBe(201);
      await until('west shows it', async () => {
        const { status } = await serviceOf(run().restUrl('west'), 'redis', 'east');
        return status.addresses.some(({ hostname }) => hostname === undefined);
      });
    });

    it('has no administrator without credentials but at its sockets', async () => {
      const spec = { role: 'admin', subjects: [{ kind: 'Group', name: 'causeway:anonymous' }] };
      const body = JSON.stringify({ type: 'RoleBinding', name: 'stolen', spec });
      const headers = { 'content-type': 'application/json' };
      for (const name of ['global', 'east', 'west']) {
        const url = `${run().restUrl(name)}/rolebindings/stolen`;
        expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(401);
        const socket = join(dataDir, 'sockets', `${name}.sock`);
        expect(await run().shell(`curl -s --unix-socket ${socket} http://${name}/who-am-i`)).toContain(
          '"local-socket"',
        );
      }
    });

    it('does what the tour of the README says', async () => {
      const asked = async (command: string): Promise<string> => {
        const ports = { 5681: 'global', 6681: 'east', 7681: 'west' };
        const here = command.replace(/http:\/\/127\.0\.0\.1:(\d+)/g, (url, port: keyof typeof ports) =>
          ports[port] ? run().restUrl(ports[port]) : url,
        );
        return run().shell(here);
      };
      const tour = tourOf(readFileSync(join(__dirname, '..', '..', 'README.md'), 'utf8'));
      const seen: string[] = [];
      for (const command of tour) {
        // A read may precede the last write; a reader of the page is slower.
        const shown = /hostnames cache/.test(command)
          ? seen.some((text) => text.includes('short'))
            ? 'cache.mesh'
            : 'cache.svc'
          : '';
        await until(`${command} shows ${shown}`, async () => {
          const text = await asked(command);
          seen.push(text);
          return text.includes(shown);
        });
      }
      expect(seen.join('\n')).toMatch(
        /Dataplane cache-1 created[\s\S]*HostnameGenerator short created[\s\S]*catalog-1 in east answers/,
      );
    });

    it('refuses a port that is taken, in one line', async () => {
      const { port } = new URL(run().restUrl('west'));
      const other = start(starter, { CAUSEWAY_DATA_DIR: join(dataDir, 'other'), CAUSEWAY_WEST_REST_PORT: port });
      expect(await other.exit).toBe(1);
      expect(other.output).toMatch(new RegExp(`^causeway: port ${port} is taken.*CAUSEWAY_WEST_REST_PORT.*\n$`));
    });

    it('leaves no process behind when it is killed', async () => {
      expect(run().processes().length).toBeGreaterThanOrEqual(5); // starter, three control planes, Postgres
      run().signal('SIGKILL');
      await run().untilGone();
    });
  });

  describe('for the second time, by npm', () => {
    let run: QuickstartRun;
    beforeAll(async () => {
      run = start(['npm', 'start']);
      await run.untilRunning();
    });

    it('starts with what its user stored, and shows it', () => {
      expect(run.output).toMatch(/none +NotAvailable: label "nobody-has-it" is missing/);
      expect(run.output).not.toContain('It was not possible');
    });

    it('finds its data and the same addresses', async () => {
      expect(await vipsOf(run)).toEqual(vips);
      expect(hostnames(await serviceOf(run.restUrl('west'), 'cart', 'east'))).toContain('cart.svc.east.mesh.local');
    });

    it('ends everything when npm is told to end', async () => {
      run.signal('SIGTERM');
      await run.exit;
      await run.untilGone();
    });
  });

  it('begins anew with --fresh, and without traffic when that is not wanted', async () => {
    const run = start([...starter, '--fresh', '--no-traffic']);
    await run.untilRunning();
    expect(await get(serviceUrl(run.restUrl('east'), 'cart', 'east'))).toBeUndefined();
    expect(run.output).toMatch(/redis +east +241\.\d+\.\d+\.\d+ /);
    expect(run.output).not.toContain('Traffic');
    const stores = ['postgres', ...(hasRedisServer() ? ['redis'] : [])];
    const parts = [...(await run.states()).keys()].filter((name) => name !== '');
    expect(parts).toEqual([...stores, 'global', 'east', 'west']);
    expect(await run.demo('curl')).toEqual({ code: 1, text: '' });
    run.signal('SIGTERM');
    expect(await run.exit).toBe(0);
    await run.untilGone();
  });

  it.each([
    ['an unknown argument', ['--frsh'], {}, /^causeway: unknown argument --frsh/],
    [
      'a folder it may not use',
      [],
      { CAUSEWAY_DATA_DIR: '/dev/null/x' },
      /^causeway: the data folder \S+ cannot be used/,
    ],
    ['a server that is not there', [], { DATABASE_URL: 'postgres://a@127.0.0.1:1/a' }, /^causeway: no connection to /],
  ])('says in one line what to do about %s', async (_, args, own, line) => {
    const run = start([...starter, ...args], { ...settings, ...own });
    expect(await run.exit).toBe(1);
    expect(run.output).toMatch(line);
    expect(run.output.split('\n')).toHaveLength(2); // the line and its end
  });
});
