import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DataplaneTokens } from '@causeway/access';
import { LeaseHolder, type LeasedDataplane, type LeaseState } from '@causeway/agent/testing';
import { createWorkloadKey } from '@causeway/identity';
import { WorkloadCertificateServiceClient } from '@causeway/proto-gen';
import { silentLogger, systemClock } from '@causeway/runtime';
import { backupLines } from '@causeway/store';
import { restoreBackup } from '@causeway/store-postgres';
import { credentials, Metadata } from '@grpc/grpc-js';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { runAsAdmin } from '../ctl/run-causeway';
import type { ParsedJson } from '../rest/rest-fixture';
import { adminFetch } from '../support/admin-credential';
import { createMigratedDatabase } from '../support/migrated-database';
import { rowsOf, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

interface Identity {
  readonly chain: string;
  readonly key: string;
}

interface Shown {
  readonly token?: string;
  readonly identity?: Identity;
}

const DAY = 86_400_000;

/** A zone whose store was restored from a backup of before its machines joined (docs/reference/enrolments.md, Backups). */
describe('machines whose enrolment a restored store lacks', () => {
  const databases: TestDatabase[] = [];
  const running = new Set<() => Promise<void>>();
  let zone: ZoneProgram;
  let identities: ReadonlyMap<string, Identity>;
  let revoked: Identity;

  const start = async (): Promise<TestDatabase> => {
    const database = await createMigratedDatabase();
    databases.push(database);
    return database;
  };
  const open = async ({ url }: TestDatabase): Promise<ZoneProgram> => {
    const settings = { DATABASE_URL: url, CAUSEWAY_XDS_TLS: 'on', CAUSEWAY_AGENT_LEASE: '10s' };
    const program = await ZoneProgram.start(settings);
    await program.untilLeading();
    return program;
  };
  const get = async (path: string): Promise<ParsedJson> => {
    const answer = await adminFetch(zone.restUrl + path);
    return answer.ok ? answer.json() : undefined;
  };
  /** The spec of the EnrolmentEpoch, which REST does not show. */
  const epoch = async (): Promise<ParsedJson> => {
    const statement = "SELECT spec FROM resources WHERE kind = 'EnrolmentEpoch' AND deleted_at IS NULL";
    const [row] = await rowsOf<{ readonly spec: ParsedJson }>(databases.at(-1)?.url ?? '', statement);
    return row?.spec;
  };
  const enrolled = async (name: string): Promise<ParsedJson> =>
    (await get('/_workloads?size=1000')).items.find((one: ParsedJson) => one.name === name);
  const inbound = (service: string): ParsedJson => [{ port: 16_000, tags: { 'kuma.io/service': service } }];
  const dataplane = (name: string, service: string): LeasedDataplane => ({
    mesh: 'default',
    name,
    labels: {},
    spec: { networking: { address: '127.0.0.1', inbound: inbound(service) } },
  });

  /** Resolves with the state of its lease once the zone has answered. */
  async function join(wanted: LeasedDataplane, { token, identity }: Shown): Promise<LeaseState | string> {
    const end = new AbortController();
    const holder = new LeaseHolder({
      instance: randomUUID(),
      machine: 'vm-1',
      version: '1',
      clock: systemClock,
      logger: silentLogger,
      addresses: () => [`127.0.0.1:${zone.xds.address.port}`],
      tls: () => ({ authorities: zone.authority ?? '', ...(identity && { identity }) }),
      authorization: () => (token === undefined ? undefined : `Bearer ${token}`),
    });
    const run = holder.run(end.signal);
    const stop = async (): Promise<void> => {
      running.delete(stop);
      end.abort();
      await run;
    };
    running.add(stop);
    holder.setDataplanes([wanted]);
    return until('an answer', () => {
      const state = holder.states().values().next().value;
      if (state && state.type !== 'waiting') return state;
      const { attachment } = holder;
      return attachment.type === 'detached' && attachment.failure?.startsWith('UNAUTH')
        ? attachment.failure
        : undefined;
    });
  }

  /** Requests a certificate for a new key. */
  async function sign(name: string, { token, identity }: Shown): Promise<Identity> {
    const made = await createWorkloadKey();
    const root = Buffer.from(zone.authority ?? '');
    const [key, chain] = identity ? [Buffer.from(identity.key), Buffer.from(identity.chain)] : [null, null];
    const channel = credentials.createSsl(root, key, chain, { checkServerIdentity: () => undefined });
    const client = new WorkloadCertificateServiceClient(`127.0.0.1:${zone.xds.address.port}`, channel);
    const metadata = new Metadata();
    if (token !== undefined) metadata.set('authorization', `Bearer ${token}`);
    try {
      return await new Promise<Identity>((resolve, reject) =>
        client.sign({ mesh: 'default', dataplane: name, csr: made.csr }, metadata, (error, answer) =>
          error ? reject(error) : resolve({ chain: answer.certificateChain, key: made.privateKey }),
        ),
      );
    } finally {
      client.close();
    }
  }
  /** Its certificate, after it joined with a token for the service `web`. */
  async function joined(name: string): Promise<Identity> {
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    const issue = () => tokens.issue({ mesh: 'default', name, services: ['web'] }).catch(() => undefined);
    const { token } = await until('a token', issue);
    const answer = await join(dataplane(name, 'web'), { token });
    expect(answer).toEqual({ type: 'held', since: expect.any(Number) });
    return sign(name, { token });
  }
  const stopAll = async (): Promise<void> => void (await Promise.all([...running].map((stop) => stop())));

  beforeAll(async () => {
    zone = await open(await start());
    await until('the zone goes by enrolments, and has enrolled what was there', async () => {
      const spec = await epoch();
      return spec?.incarnation !== undefined && spec.adopting === undefined;
    });
    // Made by hand; their machines come later.
    for (const name of ['web-1', 'web-2'])
      await zone.put(`/meshes/default/dataplanes/${name}`, {
        type: 'Dataplane',
        mesh: 'default',
        name,
        ...dataplane(name, 'web').spec,
      });
    const backup = await (await adminFetch(`${zone.restUrl}/_backup?secrets=true`)).text();

    const names = ['web-1', 'web-2', 'late-1'];
    identities = new Map(await Promise.all(names.map(async (name) => [name, await joined(name)] as const)));
    revoked = identities.get('web-2') ?? { chain: '', key: '' };
    await stopAll();
    await zone.stop();

    const database = await start();
    const owner = { role: 'zone', zone: 'east' } as const;
    const restored = await restoreBackup(backupLines(Readable.from([Buffer.from(backup)])), {
      url: database.url,
      logger: silentLogger,
      owner,
      dryRun: false,
      signal: new AbortController().signal,
    });
    expect(restored.ok).toBe(true);
    zone = await open(database);
    await until('it is noticed', async () => (await epoch())?.restoredAt);
  });
  afterEach(stopAll);
  afterAll(async () => {
    await zone?.stop();
    await Promise.all(databases.map((database) => database.drop()));
  });
  const identityOf = (name: string): Identity => identities.get(name) ?? { chain: '', key: '' };

  it('come back by their certificate, for one life of one, with the services that the restored Dataplane has', async () => {
    expect(await enrolled('web-1')).toBeUndefined();
    const identity = identityOf('web-1');
    expect(await join(dataplane('web-1', 'web'), { identity })).toMatchObject({ type: 'held' });
    const back = await enrolled('web-1');
    expect(back).toMatchObject({ by: 'import', services: ['web'], registered: true });
    const left = Date.parse(back.confirmBefore) - Date.now();
    expect(left).toBeGreaterThan(DAY - 600_000);
    expect(left).toBeLessThanOrEqual(DAY);
    const shown = await runAsAdmin(zone.restUrl, ['workloads']);
    expect(shown.out).toMatch(/web-1 +web +import, ends \S+ unless confirmed/);
    // It renews, and nothing more is granted.
    await sign('web-1', { identity: await sign('web-1', { identity }) });
    const greedy = await join(dataplane('web-1', 'bank'), { identity });
    expect(greedy).toMatchObject({ type: 'refused', reason: expect.stringContaining('serves "bank"') });
  });

  it('stand once an operator has confirmed them', async () => {
    const confirmed = await runAsAdmin(zone.restUrl, ['workloads', 'confirm', 'web-1']);
    expect(confirmed).toMatchObject({ code: 0, out: expect.stringContaining('workload web-1 stands') });
    const now = await enrolled('web-1');
    expect(now).toMatchObject({ by: 'import', services: ['web'] });
    expect(now).not.toHaveProperty('confirmBefore');
    expect((await runAsAdmin(zone.restUrl, ['workloads', 'confirm', 'web-1'])).code).toBe(0);
    await sign('web-1', { identity: identityOf('web-1') });
    const unknown = await runAsAdmin(zone.restUrl, ['workloads', 'confirm', 'nobody']);
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('is not enrolled in this zone') });
  });

  it('serve nothing where the restored store has no Dataplane of theirs', async () => {
    const answer = await join(dataplane('late-1', 'web'), { identity: identityOf('late-1') });
    expect(JSON.stringify(answer)).toMatch(/is for no service; the Dataplane serves/);
    expect(await get('/meshes/default/dataplanes/late-1')).toBeUndefined();
  });

  it('stay out once they are revoked, by every certificate of before', async () => {
    await join(dataplane('web-2', 'web'), { identity: revoked });
    expect(await enrolled('web-2')).toMatchObject({ by: 'import' });
    const renewed = await sign('web-2', { identity: revoked });
    await zone.post('/_workloads/revocations', { mesh: 'default', name: 'web-2' });
    for (const identity of [revoked, renewed]) {
      const again = await join(dataplane('web-2', 'web'), { identity });
      expect(JSON.stringify(again)).toMatch(/to no current enrolment|revoked/);
      await expect(sign('web-2', { identity })).rejects.toThrow(/to no current enrolment|revoked|no Dataplane/);
    }
    expect(await enrolled('web-2')).toBeUndefined();
  });
});
