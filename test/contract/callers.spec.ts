import { ApiError, connectApi, type ApiClient } from '@causeway/api-client';
import { namingInsights } from '@causeway/control-plane/testing';
import { HostnameExplainer, type Insights } from '@causeway/queries';
import { BadRequest, ErrorInfo, ResourceServiceClient, RetryInfo, RpcStatus } from '@causeway/proto-gen';
import type { JsonObject } from '@causeway/resources';
import type { AuditLog } from '@causeway/store';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { CallerRateSettings } from '@causeway/access/testing';
import { GrpcFixture, OPERATOR_TOKEN } from '../grpc/grpc-fixture';
import { restFixture, ZONE_EAST } from '../rest/rest-fixture';
import { plainTokens } from '../support/rest-access';
import { until } from '../support/until';

/** A control plane that is asked by one of its interfaces, with callers who may do different things. */
interface Served {
  readonly scheme: string;
  readonly port: number;
  readonly audit: AuditLog;
  /** Returns the delay (s) that a caller with this token is given after too many requests; undefined if it was answered. */
  retryAfter(token: string): Promise<number | undefined>;
  close(): Promise<void>;
}

const BINDINGS: Readonly<Record<string, JsonObject>> = {
  viewer: { role: 'viewer', subjects: [{ kind: 'User', name: 'viewer' }] },
  owner: { role: 'service-owner', subjects: [{ kind: 'User', name: 'owner' }], namespaces: ['payments'] },
  services: { role: 'viewer', subjects: [{ kind: 'User', name: 'services' }], kinds: ['MeshService'] },
};
const bindings = Object.entries(BINDINGS).map(([name, spec]) => ({
  id: { kind: 'RoleBinding', mesh: '', zone: '', namespace: '', name },
  spec,
  labels: {},
}));
const GENERATORS: Readonly<Record<string, string>> = {
  own: '{{ .DisplayName }}.{{ .Namespace }}.own',
  both: '{{ .DisplayName }}.both',
};
const generators = Object.entries(GENERATORS).map(([name, template]) => ({
  id: { kind: 'HostnameGenerator', mesh: '', zone: '', namespace: '', name },
  spec: { template, selector: { meshService: {} } },
  labels: {},
}));
const seeds = [...bindings, ...generators];
const verifiers = [plainTokens];

const NO_EXPLANATION = { hostname: '', mesh: '', zone: '', claims: [], hints: [] };

async function serveRest(rates?: CallerRateSettings): Promise<Served> {
  const access = { operatorToken: OPERATOR_TOKEN, open: false, verifiers, ...(rates ? { rates } : {}) };
  const view: { naming?: Insights } = {};
  const rest = await restFixture({
    cp: ZONE_EAST,
    access,
    insights: {
      explainHostname: (question, signal) => view.naming?.explainHostname?.(question, signal) ?? NO_EXPLANATION,
    },
  });
  const explainer = new HostnameExplainer(rest.index, ZONE_EAST);
  view.naming = namingInsights({ cp: ZONE_EAST }, explainer);
  await rest.seed(...seeds);
  const port = await rest.server.listen('127.0.0.1', 0);
  const retryAfter = async (token: string): Promise<number | undefined> => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`http://127.0.0.1:${port}/meshes/default`, { headers });
    await answer.arrayBuffer();
    return answer.status === 429 ? Number(answer.headers.get('retry-after')) : undefined;
  };
  return {
    scheme: 'http',
    port,
    retryAfter,
    audit: rest.audit,
    close: () => rest.close().then(() => explainer.close()),
  };
}

async function serveGrpc(rates?: CallerRateSettings): Promise<Served> {
  const grpc = await GrpcFixture.open({
    cp: ZONE_EAST,
    open: false,
    verifiers,
    ...(rates ? { rates } : {}),
  });
  const changes = seeds.map((one) => ({ ...one, type: 'put', expect: 'any' }) as const);
  await grpc.index.reached((await grpc.store.write({ changes, onRefusal: 'abort' })).revision);
  const client = new ResourceServiceClient(grpc.address, credentials.createInsecure());
  const retryAfter = async (token: string): Promise<number | undefined> => {
    const status = await statusOfGet(client, { kind: 'Mesh', name: 'default' }, token);
    if (status?.code !== 8) return undefined;
    const { seconds = NaN, nanos = 0 } = RetryInfo.decode(detailOf(status, 'RetryInfo')).retryDelay ?? {};
    return seconds + nanos / 1e9;
  };
  const close = async (): Promise<void> => {
    client.close();
    await grpc.close();
  };
  return { scheme: 'grpc', port: grpc.port, retryAfter, audit: grpc.audit, close };
}

/** Returns the status and details of a failed Get; undefined if it succeeds. */
async function statusOfGet(
  client: ResourceServiceClient,
  resource: { readonly kind: string; readonly name: string },
  token: string,
): Promise<RpcStatus | undefined> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const query = { name: { mesh: '', namespace: '', ...resource }, minRevision: 0 };
  const error = await new Promise<ServiceError | null>((resolve) => client.get(query, metadata, resolve));
  const [bytes] = error?.metadata.get('grpc-status-details-bin') ?? [];
  return Buffer.isBuffer(bytes) ? RpcStatus.decode(bytes) : undefined;
}

function detailOf(status: RpcStatus | undefined, type: string): Buffer {
  const found = status?.details.find(({ typeUrl }) => typeUrl === `type.googleapis.com/google.rpc.${type}`);
  if (!found) throw new Error(`no ${type}`);
  return found.value;
}

const service = (namespace: string): JsonObject => ({
  type: 'MeshService',
  mesh: 'default',
  namespace,
  name: 'a',
  spec: { selector: { dataplaneTags: { app: 'a' } }, ports: [{ port: 80, appProtocol: 'http' }] },
});
const named = (namespace: string) => ({ kind: 'MeshService', namespace, name: 'a' });

function codeOf(error: unknown): string {
  if (!(error instanceof ApiError)) throw error;
  return error.code;
}

/** Returns the outcome of a call: `yes`, or the code of its error. */
async function answer(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'yes';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

/** Returns the outcome of the one document of an apply. */
async function applied(call: ReturnType<ApiClient['apply']>): Promise<string> {
  try {
    const [result] = (await call).results;
    return result?.error?.code ?? result?.outcome ?? 'no result';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe.each([
  ['REST', serveRest],
  ['gRPC', serveGrpc],
] as const)('callers over %s', (_, serve) => {
  let served: Served;
  const clients: ApiClient[] = [];
  const connect = async (token?: string): Promise<ApiClient> => {
    const server = new URL(`${served.scheme}://127.0.0.1:${served.port}`);
    const client = await connectApi({ server, ...(token === undefined ? {} : { token }) });
    clients.push(client);
    return client;
  };
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await served.close();
  });

  /** Reads, lists, asks for a name that nothing has, writes and deletes in two namespaces. */
  async function rightsOf(api: ApiClient): Promise<readonly string[]> {
    return [
      await answer(api.get(named('payments'))),
      await answer(api.get(named('default'))),
      await answer(api.list({ kind: 'MeshService', mesh: 'default' })),
      await answer(api.list({ kind: 'MeshService', mesh: 'default', namespace: 'payments' })),
      await answer(api.explain({ hostname: 'a.svc.mesh.local' })),
      await applied(api.apply([{ ...service('payments'), labels: { by: 'somebody' } }], { dryRun: true })),
      await applied(api.apply([service('default')])),
      await answer(api.delete(named('default'), { dryRun: true })),
      await answer(api.delete(named('payments'), { dryRun: true })),
    ];
  }

  it('are told of the claims of a hostname only where they may list all kinds of them', async () => {
    served = await serve();
    const services = await connect('services:');
    expect(await answer(services.list({ kind: 'MeshService', mesh: 'default' }))).toBe('yes');
    expect(await answer(services.explain({ hostname: 'a.svc.mesh.local' }))).toBe('forbidden');
  });

  it('may do what their roles say', async () => {
    served = await serve();
    const operator = await connect(OPERATOR_TOKEN);
    const { results } = await operator.apply([service('payments'), service('default')]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['created', 'created']);
    const no = 'forbidden';
    const found = {
      viewer: await rightsOf(await connect('viewer:')),
      owner: await rightsOf(await connect('owner:')),
      stranger: await rightsOf(await connect('stranger:')),
      nobody: await rightsOf(await connect()),
    };
    expect(found).toEqual({
      viewer: ['yes', 'yes', 'yes', 'yes', 'yes', no, no, no, no],
      owner: ['yes', no, no, 'yes', no, 'updated', no, no, 'yes'],
      stranger: Array.from({ length: 9 }, () => no),
      nobody: Array.from({ length: 9 }, () => 'unauthenticated'),
    });
  });

  it('are shown of a hostname what they may read of its services', async () => {
    served = await serve();
    const operator = await connect(OPERATOR_TOKEN);
    await operator.apply([service('payments'), service('default')]);
    const [viewer, owner, stranger] = [await connect('viewer:'), await connect('owner:'), await connect('stranger:')];
    const claimsOf = async (api: ApiClient, hostname: string): Promise<readonly string[]> =>
      (await api.explain({ hostname })).claims.map(({ service: { namespace } }) => namespace).sort();
    expect(await claimsOf(viewer, 'a.both')).toEqual(['default', 'payments']);
    expect(await claimsOf(owner, 'a.both')).toEqual(['payments']);
    expect(JSON.stringify(await owner.explain({ hostname: 'a.both' }))).not.toContain('default/');
    expect(await claimsOf(owner, 'a.payments.own')).toEqual(['payments']);
    const other = await owner.explain({ hostname: 'a.default.own' }).catch((error: unknown) => error);
    expect(other).toMatchObject({ code: 'forbidden', message: expect.stringContaining('list MeshService in mesh') });
    expect(await answer(stranger.explain({ hostname: 'a.payments.own' }))).toBe('forbidden');
  });

  it('resolve a hostname to a service that they may read, and no other', async () => {
    served = await serve();
    const operator = await connect(OPERATOR_TOKEN);
    await operator.apply([service('payments'), service('default')]);
    const resolved = async (token: string, hostname: string): Promise<string> => {
      const api = await connect(token);
      return api.resolve({ hostname }).then(({ service: { namespace, name } }) => `${namespace}/${name}`, codeOf);
    };
    expect(await resolved('viewer:', 'a.default.own')).toBe('default/a');
    expect(await resolved('owner:', 'a.payments.own')).toBe('payments/a');
    expect(await resolved('owner:', 'a.default.own')).toBe('forbidden');
    // Whether the name is taken is not shown either.
    expect(await resolved('owner:', 'nobody.default.own')).toBe('forbidden');
    expect(await resolved('viewer:', 'nobody.default.own')).toBe('not-found');
    expect(await resolved('stranger:', 'a.payments.own')).toBe('forbidden');
  });

  it('are refused where they ask too often', async () => {
    served = await serve({ user: 1, address: 0 });
    const viewer = await connect('viewer:');
    const answers: string[] = [];
    for (let i = 0; i < 20; i++) answers.push(await answer(viewer.get({ kind: 'Mesh', name: 'default' })));
    expect(answers.slice(0, 2)).toEqual(['yes', 'yes']);
    expect(answers).toContain('exhausted');
    const refused = await until('the refusal', async () => {
      const { entries } = await served.audit.page({ size: 1, result: 'refused' });
      return entries[0];
    });
    expect(refused).toMatchObject({ user: 'viewer', recognizedBy: 'user-token' });
    expect(refused.reason).toContain('user "viewer" sends more requests than it may');
  });

  it('are told when to come back, and then they are answered', async () => {
    served = await serve({ user: 1, address: 0 });
    let wait: number | undefined;
    for (let i = 0; i < 20 && wait === undefined; i++) wait = await served.retryAfter('viewer:');
    expect(wait).toBeGreaterThan(0);
    // One request a second: what gRPC says in nanoseconds REST rounds up to whole seconds.
    expect(Math.ceil(wait ?? NaN)).toBe(1);
    expect(await served.retryAfter('owner:')).toBeUndefined();
    await until('the time has passed', async () => (await served.retryAfter('viewer:')) === undefined);
  });
});

describe('the details of errors on the wire of gRPC', () => {
  let grpc: GrpcFixture;
  let client: ResourceServiceClient;
  afterEach(async () => {
    client.close();
    await grpc.close();
  });

  const refusal = (name: string, token = OPERATOR_TOKEN): Promise<RpcStatus | undefined> =>
    statusOfGet(client, { kind: 'MeshService', name }, token);

  it('name the reason, the field, and when to come back', async () => {
    grpc = await GrpcFixture.open({ open: false, verifiers, rates: { user: 1, address: 0 } });
    client = new ResourceServiceClient(grpc.address, credentials.createInsecure());
    const absent = await refusal('none');
    expect(absent?.code).toBe(5);
    expect(ErrorInfo.decode(detailOf(absent, 'ErrorInfo'))).toMatchObject({
      domain: 'causeway.v1',
      reason: 'NOT_FOUND',
    });
    const unnamed = await refusal('', 'other:');
    expect(ErrorInfo.decode(detailOf(unnamed, 'ErrorInfo')).reason).toBe('INVALID_REQUEST');
    const { fieldViolations } = BadRequest.decode(detailOf(unnamed, 'BadRequest'));
    expect(fieldViolations.map(({ field }) => field)).toEqual(['name.name']);
    let limited: RpcStatus | undefined = undefined;
    for (let i = 0; i < 20 && limited?.code !== 8; i++) limited = await refusal('none');
    expect(limited?.code).toBe(8);
    expect(ErrorInfo.decode(detailOf(limited, 'ErrorInfo')).reason).toBe('RATE_LIMITED');
    const { seconds = 0, nanos = 0 } = RetryInfo.decode(detailOf(limited, 'RetryInfo')).retryDelay ?? {};
    expect(seconds * 1e9 + nanos).toBeGreaterThan(0);
  });
});
