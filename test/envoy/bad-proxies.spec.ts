/*
 * Input that means harm is refused by name or costs little, and other proxies at the same port go on. Which input, and where it is tested:
 * * A server name of a cluster that is internal: test/envoy/traffic.spec.ts, test/traffic/first-answer.e2e-spec.ts.
 * * A trust domain of another zone: libs/controllers/src/trust/trust-reconciler.spec.ts, test/envoy/modes.spec.ts.
 * * A trust domain twice: libs/controllers/src/trust/trust-reconciler.spec.ts.
 * * A template that gives two workloads one id: libs/controllers/src/trust/shared-identity-reconciler.spec.ts,
 *   libs/identity/src/workload-id.spec.ts.
 * * A trust without a valid certificate: libs/kinds/src/identity-kinds.spec.ts,
 *   libs/controllers/src/trust/trust-reconciler.spec.ts, libs/xds-translation/src/model/trust-domains.spec.ts.
 * * An address that is none: libs/kinds/src/identity-kinds.spec.ts, libs/kds/src/scenarios/zone-addresses.spec.ts.
 * * A CSR for somebody else's name: test/envoy/bad-proxies.spec.ts, libs/identity/src/workload-certificates.spec.ts.
 * * A token that has expired, or is of somebody else: test/envoy/bad-proxies.spec.ts, test/envoy/xds-port.spec.ts.
 * * Garbage: test/envoy/bad-proxies.spec.ts, libs/agent-service/src/scenarios/answers.spec.ts, test/envoy/xds-port.spec.ts.
 * * A proxy that never acks: libs/agent-service/src/scenarios/answers.spec.ts, test/envoy/bad-proxies.spec.ts.
 * * Wrong nonces: libs/agent-service/src/scenarios/answers.spec.ts, test/envoy/bad-proxies.spec.ts.
 * * 100,000 names: test/envoy/bad-proxies.spec.ts, libs/agent-service/src/scenarios/answers.spec.ts.
 * All of it at once, with valid tokens, is a part of test/attack; the cost of each input of test/cost.
 */
import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { SignJWT } from 'jose';
import { deltaClient, type DeltaClient } from '../support/ads-client';
import { createCsr, csrKey } from '../support/csr';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';

const { cluster, endpoints, listener, secret } = RESOURCE_TYPES;
const KID = '7';
const keys = (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const [ours, foreign] = [keys(), keys()];

/** A dataplane token of a Dataplane by name, without a workload; `exp` in seconds from now. */
function token(name: string, { key = ours, kid = KID, exp = 600 } = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    Name: name,
    Mesh: 'default',
    Type: 'dataplane',
    jti: randomUUID(),
    nbf: now - 3_600,
    exp: now + exp,
  };
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(key);
}

/** A zone with one proxy that behaves, and one that does not: each refusal has its text, and the first one is not affected. */
describe('a proxy that misbehaves', () => {
  let database: TestDatabase;
  let zone: ZoneProgram;
  let good: DeltaClient;
  let servicePort = 20_000;
  const clients: DeltaClient[] = [];

  const putDataplane = (name: string, port: number, labels = {}): Promise<void> =>
    zone.put(`/meshes/default/dataplanes/${name}`, {
      type: 'Dataplane',
      mesh: 'default',
      name,
      labels,
      networking: {
        address: '127.0.0.1',
        inbound: [{ port, servicePort, tags: { 'kuma.io/service': name } }],
      },
    });
  const connect = (name: string, shown: string): DeltaClient => {
    const client = deltaClient(zone.xds.address.port, `default.${name}`, shown);
    clients.push(client);
    return client;
  };
  const ackAll = (client: DeltaClient): void => {
    client.stream.on('data', () => {
      const latest = client.responses.at(-1);
      if (latest) client.ack(latest);
    });
  };
  /** The proxy that behaves has the next change. */
  const goodHasNext = async (): Promise<void> => {
    servicePort += 1;
    await putDataplane('good', 16_379);
    await until('the change', () =>
      good.responses.at(-1)?.resources.some(({ resource }) => resource?.value.includes(`:${servicePort}`)),
    );
    expect(good.ended).toBeUndefined();
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await ZoneProgram.start({ DATABASE_URL: database.url });
    await zone.untilLeading();
    const data = Buffer.from(ours.export({ type: 'pkcs1', format: 'pem' }).toString()).toString('base64');
    const name = `dataplane-token-signing-key-${KID}`;
    await zone.put(`/globalsecrets/${name}`, { type: 'GlobalSecret', name, data });
    await putDataplane('good', 16_379);
    await putDataplane('bad', 16_380, { 'kuma.io/workload': 'payments' });
    await until('the key', async () => {
      good = connect('good', await token('good'));
      ackAll(good);
      good.send({ typeUrl: listener });
      return good.response(0).then(
        () => true,
        () => false,
      );
    });
  });
  afterEach(() => goodHasNext());
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await zone.stop();
    await database.drop();
  });

  it.each<[string, () => Promise<string>, RegExp]>([
    ['an expired token', () => token('bad', { exp: -60 }), /UNAUTHENTICATED: .*expired at/],
    ['a token of another zone', () => token('bad', { key: foreign }), /UNAUTHENTICATED: .*signature/],
    ['a token of a key that nobody has', () => token('bad', { kid: '99' }), /UNAUTHENTICATED: .*99/],
    ['a token of another Dataplane', () => token('good'), /PERMISSION_DENIED: .*claim "Name" is "good"/],
  ])('is refused with %s', async (_, made, text) => {
    const client = connect('bad', await made());
    client.send({ typeUrl: cluster });
    expect((await client.end()).message).toMatch(text);
  });

  it.each<[string, (client: DeltaClient) => void, RegExp]>([
    [
      'garbage',
      (client) => client.sendBytes(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff])),
      /INVALID_ARGUMENT: no discovery request/,
    ],
    [
      '100,000 names',
      (client) => {
        const names = Array.from({ length: 100_000 }, (_, i) => `kri_msvc_default_east__s${i}_80`);
        client.send({ typeUrl: endpoints, resourceNamesSubscribe: names });
      },
      /RESOURCE_EXHAUSTED: 100000 names are more than 50000 on one stream/,
    ],
    [
      'a CSR that is none',
      (client) => {
        const metadata = { 'causeway.io/csr': 7, 'causeway.io/key-file': 'key.pem' };
        client.send({ node: { id: 'default.bad', metadata }, typeUrl: cluster });
      },
      /INVALID_ARGUMENT: .*csr.*must be a CSR.*key-file.*must be an absolute path; got "key.pem"/s,
    ],
  ])('is ended for %s', async (_, send, text) => {
    const client = connect('bad', await token('bad'));
    send(client);
    expect((await client.end()).message).toMatch(text);
  });

  it('gets no certificate of a workload that its token does not prove, whatever its CSR says, and its reason is shown', async () => {
    const csr = await createCsr(await csrKey(), 'spiffe://default.east.mesh.local/workload/payments');
    const metadata = { 'causeway.io/csr': csr, 'causeway.io/key-file': '/key.pem' };
    const client = connect('bad', await token('bad'));
    client.send({ node: { id: 'default.bad', metadata }, typeUrl: secret, resourceNamesSubscribe: ['identity'] });
    const reason = (): string => JSON.stringify(zone.xds.proxies().find(({ id }) => id === 'default/bad') ?? {});
    await until('the reason', () => reason().includes('must have the claim \\"Workload\\"'));
    expect(client.responses).toEqual([]);
    await client.close();
  });

  it('costs one response of a type while it acks nothing, and with wrong nonces too', async () => {
    const client = connect('bad', await token('bad'));
    client.send({ typeUrl: listener });
    const first = await client.response(0);
    for (let n = 0; n < 20; n++) {
      client.send({ typeUrl: listener, responseNonce: `never-sent-${n}` });
      servicePort += 1;
      await putDataplane('bad', 16_380, { 'kuma.io/workload': 'payments' });
    }
    await goodHasNext();
    expect(client.responses).toHaveLength(1);
    const held = zone.xds.proxies().find(({ id }) => id === 'default/bad');
    expect(held?.types).toMatchObject([{ responses: { sent: 1, acked: 0 } }]);
    client.ack(first);
    expect((await client.response(1)).resources.map(({ name }) => name)).toEqual(['inbound:127.0.0.1:16380']);
    await client.close();
  });
});
