import { createPrivateKey, generateKeyPairSync, randomUUID, X509Certificate, type KeyObject } from 'node:crypto';
import type { DataplaneTokenRequest, DataplaneTokens, IssuedToken } from '@causeway/access';
import { LeaseHolder } from '@causeway/agent/testing';
import { WorkloadCertificateServiceClient, type SignResponse } from '@causeway/proto-gen';
import { silentLogger, systemClock } from '@causeway/runtime';
import { credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { SignJWT } from 'jose';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { createCsr, csrKey } from '../support/csr';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { TestAuthority, type TestCertificate } from '../support/test-authority';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

const inbound = [{ port: 16379, servicePort: 6379, tags: { 'kuma.io/service': 'redis' } }];
const MESH = 'default';
const VALIDITY = 60_000;

interface Call {
  readonly token?: string;
  readonly mesh?: string;
  readonly dataplane?: string;
  readonly csr?: string;
  readonly replica?: ZoneProgram;
  /** The client certificate. */
  readonly shows?: TestCertificate;
}

/** Two replicas of a zone, over TLS, with Postgres: what an agent without any ADS stream gets its certificate by. */
describe('WorkloadCertificateService/Sign', () => {
  let database: TestDatabase;
  let replicas: readonly [ZoneProgram, ZoneProgram];
  let csr = '';
  let good = '';
  const ends: (() => void)[] = [];

  const issue = (request: Partial<DataplaneTokenRequest> = {}): Promise<IssuedToken> => {
    const { tokens } = replicas[0].app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    return tokens.issue({ mesh: MESH, ...request });
  };
  const dataplane = (name: string, labels: Record<string, string> = {}): Promise<void> =>
    replicas[0].put(`/meshes/default/dataplanes/${name}`, {
      type: 'Dataplane',
      mesh: MESH,
      name,
      labels,
      networking: { address: '127.0.0.1', inbound },
    });

  /** The answer, or `CODE: text` of the refusal. */
  function sign(call: Call = {}): Promise<SignResponse | string> {
    const replica = call.replica ?? replicas[0];
    const { port } = replica.xds.address;
    const [key, chain] = call.shows ? [Buffer.from(call.shows.key), Buffer.from(call.shows.chain)] : [null, null];
    const ca = credentials.createSsl(Buffer.from(replica.authority ?? ''), key, chain);
    const client = new WorkloadCertificateServiceClient(`127.0.0.1:${port}`, ca);
    ends.push(() => client.close());
    const metadata = new Metadata();
    const { token = good, mesh = MESH, dataplane: name = 'redis-1' } = call;
    if (token !== '') metadata.set('authorization', `Bearer ${token}`);
    return new Promise((resolve) =>
      client.sign({ mesh, dataplane: name, csr: call.csr ?? csr }, metadata, (error: ServiceError | null, answer) =>
        resolve(error ? `${status[error.code]}: ${error.details}` : answer),
      ),
    );
  }
  const signed = async (call: Call = {}): Promise<SignResponse> => {
    const answer = await sign(call);
    if (typeof answer === 'string') throw new Error(answer);
    return answer;
  };

  const refusal = async (call: Call): Promise<string> => {
    const answer = await sign(call);
    return typeof answer === 'string' ? answer : '';
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    const settings = { DATABASE_URL: database.url, CAUSEWAY_XDS_TLS: 'on', CAUSEWAY_WORKLOAD_CERT_VALIDITY: '1m' };
    const first = await ZoneProgram.start(settings);
    await first.untilLeading();
    replicas = [first, await ZoneProgram.start(settings)];
    await dataplane('redis-1');
    csr = await createCsr(await csrKey());
    good = (await until('a key that signs tokens', () => issue({ name: 'redis-1' }).catch(() => undefined))).token;
    // Another Dataplane's, for each call counts.
    await dataplane('first-1');
    const token = (await issue({ name: 'first-1' })).token;
    const first1 = { dataplane: 'first-1', token };
    for (const replica of replicas)
      await until('an identity', async () => typeof (await sign({ ...first1, replica })) !== 'string');
  });
  afterEach(() => ends.splice(0).forEach((end) => end()));
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await database.drop();
  });

  it('gives the key of a CSR the id of the stored Dataplane, at any replica, with trust and the time to renew', async () => {
    for (const replica of replicas) {
      const keys = await csrKey();
      const before = Date.now();
      const answer = await signed({
        replica,
        csr: await createCsr(keys, 'spiffe://default.east.mesh.local/workload/web'),
      });
      expect(answer.spiffeId).toBe('spiffe://default.east.mesh.local/workload/redis-1');
      const leaf = new X509Certificate(answer.certificateChain);
      // The CSR asks for another id and a subject.
      expect(leaf.subjectAltName).toBe(`URI:${answer.spiffeId}`);
      expect(answer.certificateChain).not.toContain('admin');
      const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
      expect(leaf.checkPrivateKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }))).toBe(true);
      const [domain] = answer.trustBundles;
      expect(domain?.trustDomain).toBe('default.east.mesh.local');
      expect(leaf.verify(new X509Certificate(domain?.certificates ?? '').publicKey)).toBe(true);
      expect(Math.abs(answer.notAfter - (before + VALIDITY))).toBeLessThan(10_000);
      expect(Math.abs(Date.parse(leaf.validTo) - answer.notAfter)).toBeLessThan(1_000);
      expect(answer.renewAt - before).toBeGreaterThanOrEqual(0.4 * VALIDITY - 1_000);
      expect(answer.renewAt - before).toBeLessThan(0.6 * VALIDITY + 10_000);
    }
  });

  it.each<[string, Call, RegExp]>([
    ['no token', { token: '' }, /^UNAUTHENTICATED: metadata "authorization": must have a dataplane token/],
    ['no token at all', { token: 'nonsense' }, /^UNAUTHENTICATED: the dataplane token cannot be read/],
    ['another mesh', { mesh: 'shop' }, /^PERMISSION_DENIED: .*of mesh "default"/],
    ['another Dataplane', { dataplane: 'web-1' }, /^NOT_FOUND: there is no Dataplane "web-1"/],
    ['no names', { mesh: '', dataplane: '', csr: '' }, /^INVALID_ARGUMENT: .*mesh: .*dataplane: .*csr: /s],
    ['a long name', { dataplane: 'x'.repeat(600) }, /^INVALID_ARGUMENT: .*dataplane: must have at most 512 characters/],
    ['no CSR', { csr: 'garbage' }, /^INVALID_ARGUMENT: .*csr: must be one PEM block/],
    ['a huge CSR', { csr: 'x'.repeat(9_000) }, /^INVALID_ARGUMENT: .*csr: must have at most 8192 characters/],
    ['a CSR of 20 MiB', { csr: 'x'.repeat(20 * 1024 * 1024) }, /^RESOURCE_EXHAUSTED: /],
  ])('refuses %s by name', async (_, call, wanted) => {
    expect(await sign(call)).toMatch(wanted);
  });

  it('refuses a weak key, and keys of other kinds', async () => {
    const rsa = await csrKey({
      name: 'RSASSA-PKCS1-v1_5',
      hash: 'SHA-256',
      modulusLength: 1024,
      publicExponent: new Uint8Array([1, 0, 1]),
    });
    expect(await sign({ csr: await createCsr(rsa) })).toMatch(
      /^INVALID_ARGUMENT: .*must have an ECDSA key of the curve P-256; got rsa/,
    );
  });

  it('refuses tokens that hold for nobody here: expired, foreign, revoked, of another Dataplane, no proof of the workload', async () => {
    await dataplane('web-1', { 'kuma.io/workload': 'web' });
    await until('it', async () => /^PERMISSION_DENIED/.test(await refusal({ dataplane: 'web-1' })));
    expect(await sign({ dataplane: 'web-1' })).toMatch(/^PERMISSION_DENIED: .*claim "Name" is "redis-1"/);
    const named = (await issue({ name: 'web-1' })).token;
    expect(await sign({ dataplane: 'web-1', token: named })).toMatch(/^PERMISSION_DENIED: .*claim "Workload"/);

    const { token, id } = await issue({ name: 'redis-1' });
    expect(typeof (await sign({ token }))).not.toBe('string');
    const { tokens } = replicas[0].app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.revoke(id);
    await until('it is revoked', async () => /^UNAUTHENTICATED: /.test(await refusal({ token })));

    const made = (key: KeyObject, exp: number): Promise<string> =>
      new SignJWT({ Name: 'redis-1', Mesh: MESH, Type: 'dataplane', jti: randomUUID(), nbf: exp - 7_200, exp })
        .setProtectedHeader({ alg: 'RS256', kid: '7' })
        .sign(key);
    const [{ privateKey }, foreign] = [1, 2].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 })) as [
      ReturnType<typeof generateKeyPairSync> & { privateKey: KeyObject },
      { privateKey: KeyObject },
    ];
    const data = Buffer.from(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()).toString('base64');
    const secret = 'dataplane-token-signing-key-7';
    await replicas[0].put(`/globalsecrets/${secret}`, { type: 'GlobalSecret', name: secret, data });
    const now = Math.floor(Date.now() / 1_000);
    const own = await made(privateKey, now + 3_600);
    await until('the key is known', async () => typeof (await sign({ token: own })) !== 'string');
    expect(await sign({ token: await made(privateKey, now - 60) })).toMatch(/^UNAUTHENTICATED: .*expired/);
    expect(await sign({ token: await made(foreign.privateKey, now + 3_600) })).toMatch(/^UNAUTHENTICATED: /);
  });

  it('renews by the certificate that it gave, and believes no other one', async () => {
    const names = ['cert-1', 'cert-2'];
    await Promise.all(names.map((name) => dataplane(name)));
    const tokens = await Promise.all(names.map(async (name) => (await issue({ name })).token));
    const keys = names.map(() => csrKey());
    const shown: TestCertificate[] = [];
    for (const [i, name] of names.entries()) {
      const pair = await (keys[i] ?? csrKey());
      const call = { dataplane: name, token: tokens[i] ?? '', csr: await createCsr(pair) };
      await until(`${name} is known`, async () => typeof (await sign(call)) !== 'string');
      const { certificateChain: chain } = await signed(call);
      const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).toString('base64');
      shown.push({ chain, key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n` });
    }
    const [own, others] = shown;
    if (!own || !others) throw new Error('no certificates');
    const renewal = { dataplane: 'cert-1', token: '' };
    for (const replica of replicas) expect(typeof (await sign({ ...renewal, replica, shows: own }))).not.toBe('string');
    expect(await sign({ ...renewal, shows: others })).toMatch(
      /^PERMISSION_DENIED: the client certificate is of \S+\/cert-2, the Dataplane is \S+\/cert-1/,
    );
    const uri = 'spiffe://default.east.mesh.local/workload/cert-1';
    const foreign = await (await TestAuthority.create('foreign')).issue({ uri });
    expect(await sign({ ...renewal, shows: foreign })).toMatch(/^UNAUTHENTICATED: .*is not signed by an authority/);
    const elsewhere = await (await TestAuthority.create('x')).issue({ uri: 'spiffe://default.west.mesh.local/a' });
    expect(await sign({ ...renewal, shows: elsewhere })).toMatch(/^UNAUTHENTICATED: .*does not trust/);
    // A certificate that is not believed is no reason to refuse a good token.
    expect(typeof (await sign({ ...renewal, token: tokens[0] ?? '', shows: foreign }))).not.toBe('string');
    await replicas[0].put('/meshparameters/own', {
      type: 'MeshParameters',
      name: 'own',
      spec: { revokedIdentities: [uri] },
    });
    await replicas[0].put('/meshes/default', {
      type: 'Mesh',
      name: 'default',
      spec: { parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name: 'own' } },
    });
    await until('it is revoked', async () =>
      /^UNAUTHENTICATED: .*is revoked/.test(await refusal({ ...renewal, shows: own })),
    );
    expect(typeof (await sign({ dataplane: 'cert-2', token: '', shows: others }))).not.toBe('string');
  });

  it('is what an agent attaches by, for the Dataplanes that have its id', async () => {
    const pair = await csrKey();
    const call = { dataplane: 'first-1', token: (await issue({ name: 'first-1' })).token, csr: await createCsr(pair) };
    const { certificateChain: chain } = await signed(call);
    const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', pair.privateKey)).toString('base64');
    const own = { chain, key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n` };
    const uri = 'spiffe://default.east.mesh.local/workload/first-1';
    const foreign = await (await TestAuthority.create('foreign')).issue({ uri });
    const end = new AbortController();
    ends.push(() => end.abort());
    const attach = (identity: TestCertificate): LeaseHolder => {
      const holder = new LeaseHolder({
        instance: randomUUID(),
        machine: 'vm-1',
        version: '1',
        clock: systemClock,
        logger: silentLogger,
        addresses: () => [`127.0.0.1:${replicas[1].xds.address.port}`],
        tls: () => ({ authorities: replicas[1].authority ?? '', identity }),
        authorization: () => undefined,
      });
      void holder.run(end.signal);
      return holder;
    };
    const [one, thief] = [attach(own), attach(foreign)];
    const spec = { networking: { address: '127.0.0.1', inbound } };
    const wanted = ['first-1', 'first-2'].map((name) => ({ mesh: MESH, name, labels: {}, spec }));
    one.setDataplanes(wanted);
    thief.setDataplanes(wanted);
    const state = (name: string) => one.states().get(`${MESH}/${name}`);
    await until('the lease', () => state('first-1')?.type === 'held');
    await until('the other is refused', () => state('first-2')?.type === 'refused');
    expect(state('first-2')).toMatchObject({
      reason: expect.stringMatching(/the client certificate is of \S+\/first-1, the Dataplane is \S+\/first-2/),
    });
    const failure = await until('the stranger is told', () => {
      const { attachment } = thief;
      return attachment.type === 'detached' && attachment.failure?.startsWith('UNAUTHENTICATED') && attachment.failure;
    });
    expect(failure).toContain('is not signed by an authority');
    expect(thief.states().get(`${MESH}/first-1`)?.type).toBe('waiting');
  });

  it('signs for one Dataplane so often, and for others still; without a MeshIdentity not at all', async () => {
    const [often, other] = ['often-1', 'other-1'];
    await Promise.all([often, other].map((name) => dataplane(name)));
    const token = (await issue({ isKuma: true })).token;
    const proofs = new Map<string, string>();
    for (const name of [often, other]) proofs.set(name, (await issue({ name })).token);
    const ask = (name: string) => sign({ dataplane: name, token: proofs.get(name) ?? '' });
    await until('they are known', async () => typeof (await ask(often)) !== 'string');
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(often)));
    expect(answers).toContainEqual(
      expect.stringMatching(/^RESOURCE_EXHAUSTED: too many certificates for Dataplane often-1: one more in \d+ s/),
    );
    expect(answers.filter((one) => typeof one !== 'string').length).toBeGreaterThan(5);
    // A token that proves nothing costs neither its owner nor others anything. It is Kuma's, valid for enrolled Dataplanes only.
    expect(await sign({ dataplane: other, token })).toMatch(/^PERMISSION_DENIED: .*is not enrolled/);
    expect(typeof (await ask(other))).not.toBe('string');
    expect(await sign({ dataplane: other, token })).toMatch(/^PERMISSION_DENIED: .*is enrolled by another credential/);
    expect(typeof (await ask(other))).not.toBe('string');
    await replicas[0].delete('/meshes/default/meshidentities/default');
    await until('none', async () =>
      /^PERMISSION_DENIED: no MeshIdentity of mesh default selects/.test(
        await refusal({ dataplane: other, token: proofs.get(other) ?? '' }),
      ),
    );
  });
});
