import { randomUUID } from 'node:crypto';
import type { DataplaneTokenRequest, DataplaneTokens } from '@causeway/access';
import { LeaseHolder, type LeasedDataplane, type LeaseState } from '@causeway/agent/testing';
import { createWorkloadKey } from '@causeway/identity';
import { WorkloadCertificateServiceClient } from '@causeway/proto-gen';
import { silentLogger, systemClock } from '@causeway/runtime';
import { credentials, Metadata } from '@grpc/grpc-js';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import type { ParsedJson } from '../rest/rest-fixture';
import { adminFetch } from '../support/admin-credential';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

interface Identity {
  readonly chain: string;
  readonly key: string;
}

interface Machine {
  readonly holder: LeaseHolder;
  stop(): Promise<void>;
}

const serves = (...services: string[]): Pick<LeasedDataplane, 'spec'> => ({
  spec: {
    networking: {
      address: '127.0.0.1',
      inbound: services.map((service, i) => ({ port: 16_000 + i, tags: { 'kuma.io/service': service } })),
    },
  },
});

/** Machines with an agent at a zone that goes by enrolments, over gRPC and TLS, with Postgres (docs/reference/enrolments.md). */
describe('a machine that has joined', () => {
  let database: TestDatabase;
  let zone: ZoneProgram;
  const machines = new Set<Machine>();

  const tokens = () => zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false }).tokens;
  const issue = (request: Partial<DataplaneTokenRequest>) => tokens().issue({ mesh: 'default', ...request });
  const get = async (path: string): Promise<ParsedJson> => {
    const answer = await adminFetch(zone.restUrl + path);
    return answer.ok ? answer.json() : undefined;
  };
  const stored = (name: string): Promise<ParsedJson> => get(`/meshes/default/dataplanes/${name}`);
  const enrolled = async (name: string): Promise<ParsedJson> =>
    (await get('/_workloads?size=1000')).items.find((one: ParsedJson) => one.name === name);

  function machine(wanted: LeasedDataplane, shown: { readonly token?: string; readonly identity?: Identity }): Machine {
    const end = new AbortController();
    const holder = new LeaseHolder({
      instance: randomUUID(),
      machine: 'vm-1',
      version: '1',
      clock: systemClock,
      logger: silentLogger,
      addresses: () => [`127.0.0.1:${zone.xds.address.port}`],
      tls: () => ({ authorities: zone.authority ?? '', ...(shown.identity && { identity: shown.identity }) }),
      authorization: () => (shown.token === undefined ? undefined : `Bearer ${shown.token}`),
    });
    const running = holder.run(end.signal);
    holder.setDataplanes([wanted]);
    const one: Machine = {
      holder,
      stop: async () => {
        machines.delete(one);
        end.abort();
        await running;
      },
    };
    machines.add(one);
    return one;
  }
  const dataplane = (name: string, ...services: string[]): LeasedDataplane => ({
    mesh: 'default',
    name,
    labels: {},
    ...serves(...services),
  });
  const stateOf = ({ holder }: Machine): LeaseState | undefined => holder.states().values().next().value;
  const held = (one: Machine): Promise<unknown> => until('its lease', () => stateOf(one)?.type === 'held');
  const reasonOf = (one: Machine): string => {
    const state = stateOf(one);
    const { attachment } = one.holder;
    const failure = attachment.type === 'detached' ? (attachment.failure ?? '') : '';
    return state?.type === 'refused' ? state.reason : failure;
  };
  const refused = (one: Machine): Promise<string> => until('it is refused', () => reasonOf(one) || undefined);

  /** Requests a certificate for a new key, as the machine of a Dataplane does. */
  async function sign(
    name: string,
    shown: { readonly token?: string; readonly identity?: Identity },
  ): Promise<Identity> {
    const made = await createWorkloadKey();
    const { chain, key } = shown.identity ?? { chain: '', key: '' };
    const root = Buffer.from(zone.authority ?? '');
    const channel = shown.identity
      ? credentials.createSsl(root, Buffer.from(key), Buffer.from(chain), { checkServerIdentity: () => undefined })
      : credentials.createSsl(root, null, null, { checkServerIdentity: () => undefined });
    const client = new WorkloadCertificateServiceClient(`127.0.0.1:${zone.xds.address.port}`, channel);
    const metadata = new Metadata();
    if (shown.token !== undefined) metadata.set('authorization', `Bearer ${shown.token}`);
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

  beforeAll(async () => {
    database = await createMigratedDatabase();
    zone = await ZoneProgram.start({ DATABASE_URL: database.url, CAUSEWAY_XDS_TLS: 'on', CAUSEWAY_AGENT_LEASE: '4s' });
    await zone.untilLeading();
    await until('a key that signs tokens', () => issue({ name: 'first' }).catch(() => undefined));
    const kuma = await issue({ isKuma: true });
    let tried = 0;
    await until('the zone goes by enrolments', async () => {
      // A new name each time: the earlier one is enrolled with its first credential.
      const name = `early-${++tried}`;
      const one = machine(dataplane(name, name), { token: kuma.token });
      await until('an answer', () => stateOf(one)?.type === 'held' || reasonOf(one) !== '');
      const isRefused = stateOf(one)?.type === 'refused';
      await one.stop();
      return isRefused;
    });
  });
  afterEach(async () => void (await Promise.all([...machines].map((one) => one.stop()))));
  afterAll(async () => {
    await zone.stop();
    await database.drop();
  });

  it('serves what its token grants, and nothing else', async () => {
    const { token } = await issue({ name: 'web-1', services: ['web'] });
    const greedy = machine(dataplane('web-1', 'web', 'bank'), { token });
    expect(await refused(greedy)).toMatch(/serves "bank": issue one with --service bank/);
    expect(await stored('web-1')).toBeUndefined();
    const honest = machine(dataplane('web-1', 'web'), { token });
    await held(honest);
    expect((await stored('web-1')).spec.grantedServices).toEqual(['web']);
    expect(await enrolled('web-1')).toMatchObject({ by: 'token', services: ['web'], registered: true });
  });

  it('without services in its token serves one of its own name', async () => {
    const { token } = await issue({ name: 'solo' });
    await held(machine(dataplane('solo', 'solo'), { token }));
    const other = machine(dataplane('solo', 'web'), { token });
    expect(await refused(other)).toMatch(/is for "solo"; the Dataplane serves "web"/);
  });

  it('is selected by no service that it was not granted, whatever it calls itself', async () => {
    const { token } = await issue({ name: 'tagged-1', services: ['web'] });
    await zone.put('/meshes/default/meshservices/bank', {
      type: 'MeshService',
      mesh: 'default',
      name: 'bank',
      spec: { selector: { dataplaneTags: { app: 'bank' } }, ports: [{ port: 80, targetPort: 16_000 }] },
    });
    const wanted = dataplane('tagged-1', 'web');
    const tags = { 'kuma.io/service': 'web', app: 'bank' };
    const networking = { address: '127.0.0.1', inbound: [{ port: 16_000, tags }] };
    await held(machine({ ...wanted, spec: { networking } }, { token }));
    await until(
      'web has it',
      async () => (await get('/meshes/default/meshservices/web'))?.status?.dataplaneProxies?.total,
    );
    expect((await get('/meshes/default/meshservices/bank')).status?.dataplaneProxies?.total ?? 0).toBe(0);
  });

  it('has a certificate that is good for its own Dataplane only', async () => {
    const { token } = await issue({ name: 'cert-1', services: ['cert'] });
    const joined = machine(dataplane('cert-1', 'cert'), { token });
    await held(joined);
    const identity = await sign('cert-1', { token });
    await joined.stop();
    await held(machine(dataplane('cert-1', 'cert'), { identity }));
    const labelled = { ...dataplane('cert-2', 'bank'), labels: { 'kuma.io/workload': 'cert-1' } };
    const thief = machine(labelled, { identity });
    expect(await refused(thief)).toMatch(
      /to no current enrolment of Dataplane east\/default\/cert-2|PERMISSION_DENIED/,
    );
    expect(await stored('cert-2')).toBeUndefined();
    const more = machine(dataplane('cert-1', 'cert', 'bank'), { identity });
    expect(await refused(more)).toMatch(/serves "bank"/);
  });

  it('is one of a group: any new name, this workload and these services, as many as are granted', async () => {
    const { token } = await issue({ workload: 'pool', services: ['pool'], machines: 2 });
    const labels = { 'kuma.io/workload': 'pool' };
    const member = (name: string): Machine => machine({ ...dataplane(name, 'pool'), labels }, { token });
    await held(member('pool-1'));
    await held(member('pool-2'));
    expect(await refused(member('web-1'))).toMatch(
      /enrolled by another credential|is not valid for the stored Dataplane/,
    );
    const third = member('pool-3');
    await until(
      'it is not let in',
      async () => (await enrolled('pool-3')) === undefined && stateOf(third)?.type !== 'held',
    );
    expect(await stored('pool-3')).toBeUndefined();
  });

  it('in the form of Kuma comes in only where the operator of the mesh says so', async () => {
    const { token } = await issue({ isKuma: true });
    expect(await refused(machine(dataplane('kuma-1', 'kuma'), { token }))).toMatch(/says nothing of services/);
    await zone.takeKumaTokens();
    await held(machine(dataplane('kuma-2', 'kuma'), { token }));
    await zone.put('/meshes/default', { type: 'Mesh', name: 'default', spec: {} });
  });

  it('stays out once it is revoked: by its token, by its certificate, and its Dataplane goes', async () => {
    const { token } = await issue({ name: 'laptop', services: ['laptop'] });
    const joined = machine(dataplane('laptop', 'laptop'), { token });
    await held(joined);
    const identity = await sign('laptop', { token });
    const renewed = await sign('laptop', { identity });
    expect(await zone.post('/_workloads/revocations', { mesh: 'default', name: 'laptop', dryRun: true })).toMatchObject(
      {
        dryRun: true,
        services: ['laptop'],
        newBundles: [],
      },
    );
    expect(await stored('laptop')).toBeDefined();
    const at = Date.now();
    await zone.post('/_workloads/revocations', { mesh: 'default', name: 'laptop' });
    await until('its stream has ended', () => joined.holder.attachment.type === 'detached');
    expect(Date.now() - at).toBeLessThan(30_000);
    expect(await stored('laptop')).toBeUndefined();
    // One entry: the dry run did nothing.
    expect((await get('/_audit?kind=Workload')).items).toMatchObject([
      { activity: 'revoke a workload', name: 'default/laptop', result: 'done' },
    ]);
    for (const shown of [{ token }, { identity }, { identity: renewed }]) {
      await expect(sign('laptop', shown)).rejects.toThrow(/revoked|to no current enrolment|no Dataplane/);
      const again = machine(dataplane('laptop', 'laptop'), shown);
      expect(await refused(again)).toMatch(/revoked|to no current enrolment/);
      await again.stop();
    }
    expect(await stored('laptop')).toBeUndefined();
    const fresh = await issue({ name: 'laptop', services: ['laptop'] });
    await held(machine(dataplane('laptop', 'laptop'), { token: fresh.token }));
    await expect(sign('laptop', { identity })).rejects.toThrow(/to no current enrolment/);
  });
});
