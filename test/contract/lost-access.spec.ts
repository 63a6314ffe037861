import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { createAuthentication, type Authentication, type Authenticator } from '@causeway/access';
import { ApiError, connectApi, type ApiClient, type WatchEvent } from '@causeway/api-client';
import { coreKinds } from '@causeway/kinds';
import { ErrorInfo, ResourceServiceClient, RpcStatus } from '@causeway/proto-gen';
import { globalIdentity, type JsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import type { ResourceIndex } from '@causeway/store';
import type { MemoryStore } from '@causeway/store/testing';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { GrpcFixture } from '../grpc/grpc-fixture';
import { restFixture, serviceId, ZONE_EAST, type AuthenticatorParts } from '../rest/rest-fixture';
import { until } from '../support/until';

/** A control plane that issues and verifies real tokens and is asked by one of its interfaces. */
interface Served {
  readonly scheme: string;
  readonly port: number;
  readonly store: MemoryStore;
  readonly index: ResourceIndex;
  close(): Promise<void>;
}

let authentication: Authentication;
const authenticator = (parts: AuthenticatorParts): Authenticator => {
  const rest = { registry: coreKinds, clock: systemClock, logger: silentLogger };
  authentication = createAuthentication({ ...parts, ...rest });
  return authentication.authenticator;
};

async function serveRest(): Promise<Served> {
  const rest = await restFixture({ cp: ZONE_EAST, access: { open: false }, authenticator });
  const port = await rest.server.listen('127.0.0.1', 0);
  return { scheme: 'http', port, store: rest.store, index: rest.index, close: () => rest.close() };
}

async function serveGrpc(): Promise<Served> {
  const grpc = await GrpcFixture.open({ cp: ZONE_EAST, open: false, authenticator });
  return { scheme: 'grpc', port: grpc.port, store: grpc.store, index: grpc.index, close: () => grpc.close() };
}

/** A watch, its events, and its end. */
class Watching {
  readonly events: WatchEvent[] = [];
  end: ApiError | undefined;
  private readonly stop = new AbortController();
  private readonly running: Promise<void>;

  constructor(private readonly api: ApiClient) {
    this.running = this.follow();
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.running;
    this.api.close();
  }

  private async follow(): Promise<void> {
    try {
      const { signal } = this.stop;
      for await (const event of this.api.watch({ kind: 'MeshService', mesh: 'default' }, { signal }))
        this.events.push(event);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.end = error;
    }
  }
}

describe.each([
  ['REST', serveRest],
  ['gRPC', serveGrpc],
] as const)('an open watch over %s', (_, serve) => {
  let served: Served;
  const watches: Watching[] = [];
  beforeEach(async () => {
    served = await serve();
    await authentication.tokens.ensureKey();
    await bind('anna');
    await bind('bob');
  });
  afterEach(async () => {
    for (const one of watches.splice(0)) await one.close();
    authentication.close();
    await served.close();
  });

  const put = async (kind: string, name: string, spec: JsonObject): Promise<void> => {
    const change = { type: 'put', id: globalIdentity(kind, name), expect: 'any', labels: {}, spec } as const;
    await served.index.reached((await served.store.write({ changes: [change], onRefusal: 'abort' })).revision);
  };
  const bind = (user: string, more: JsonObject = {}): Promise<void> =>
    put('RoleBinding', user, { role: 'viewer', subjects: [{ kind: 'User', name: user }], ...more });
  const remove = async (kind: string, name: string): Promise<void> => {
    const change = { type: 'delete', id: globalIdentity(kind, name), expect: 'any' } as const;
    await served.store.write({ changes: [change], onRefusal: 'abort' });
  };
  /** Opens a watch and waits for its first state. */
  const watch = async (token: string): Promise<Watching> => {
    const server = new URL(`${served.scheme}://127.0.0.1:${served.port}`);
    const one = new Watching(await connectApi({ server, token }));
    watches.push(one);
    await until('the first bookmark', () => one.events.some(({ type }) => type === 'bookmark'));
    return one;
  };
  const issue = async (name: string, validFor = '1h'): Promise<{ readonly id: string; readonly token: string }> =>
    authentication.tokens.issue({ name, validFor });
  const endOf = async (one: Watching): Promise<string> => {
    await until('the end of the watch', () => one.end !== undefined);
    return `${one.end?.code}: ${one.end?.message}`;
  };
  /** Writes a resource and expects that this watch still reports it. */
  const goesOn = async (one: Watching, name: string): Promise<void> => {
    const change = { type: 'put', id: serviceId(name), expect: 'any', labels: {}, spec: {} } as const;
    await served.store.write({ changes: [change], onRefusal: 'abort' });
    await until('the change', () =>
      one.events.some(({ type, ...rest }) => type === 'put' && JSON.stringify(rest).includes(name)),
    );
    expect(one.end).toBeUndefined();
  };

  it('ends when its token is revoked; that of another token of the user goes on', async () => {
    const [revoked, other] = [await issue('anna'), await issue('anna')];
    const [first, second] = [await watch(revoked.token), await watch(other.token)];
    await goesOn(first, 'before');
    await authentication.tokens.revoke(revoked.id);
    expect(await endOf(first)).toMatch(/^unauthenticated: .*revoked/);
    await goesOn(second, 'after');
  });

  it('ends when its token expires', async () => {
    const [short, long] = [await issue('anna', '5s'), await issue('bob')];
    const [first, second] = [await watch(short.token), await watch(long.token)];
    expect(await endOf(first)).toMatch(/^unauthenticated: .*expired/);
    await goesOn(second, 'after');
  });

  it('ends when the binding of its user is deleted or allows it no more; a change that leaves the right does not', async () => {
    const [annas, bobs] = [await watch((await issue('anna')).token), await watch((await issue('bob')).token)];
    await bind('anna', { meshes: ['default'] });
    await goesOn(annas, 'narrowed');
    await bind('anna', { namespaces: ['payments'] });
    expect(await endOf(annas)).toBe('forbidden: no RoleBinding lets user "anna" watch MeshService in mesh "default"');
    await goesOn(bobs, 'between');
    await remove('RoleBinding', 'bob');
    expect(await endOf(bobs)).toBe('forbidden: no RoleBinding lets user "bob" watch MeshService in mesh "default"');
  });

  it('ends when the role of its binding allows it no more', async () => {
    await put('Role', 'watcher', { rules: [{ verbs: ['watch'], kinds: ['MeshService'] }] });
    await bind('anna', { role: 'watcher' });
    const [annas, bobs] = [await watch((await issue('anna')).token), await watch((await issue('bob')).token)];
    await put('Role', 'watcher', { rules: [{ verbs: ['watch'], kinds: ['Dataplane'] }] });
    expect(await endOf(annas)).toMatch(/^forbidden: /);
    await goesOn(bobs, 'after');
  });

  it('ends when its OIDC issuer is trusted no more', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    const key = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' };
    const issuer: Server = createServer(({ url = '' }, response) => {
      const body = url === '/keys' ? { keys: [key] } : { issuer: issuerUrl, jwks_uri: `${issuerUrl}/keys` };
      response.end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(issuer, 'listening');
    const address = issuer.address();
    const issuerUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const trust = { issuer: issuerUrl, audiences: ['causeway'], usernamePrefix: '' };
    await put('AuthenticationConfiguration', 'default', { oidc: { issuers: [trust] } });
    const token = await new SignJWT({ sub: 'anna' })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .setIssuer(issuerUrl)
      .setAudience('causeway')
      .setExpirationTime('1h')
      .sign(privateKey);
    const [annas, bobs] = [await watch(token), await watch((await issue('bob')).token)];
    await put('AuthenticationConfiguration', 'default', { oidc: { issuers: [] } });
    expect(await endOf(annas)).toMatch(/^unauthenticated: /);
    await goesOn(bobs, 'after');
    issuer.close();
  });
});

describe('an open Apply over gRPC', () => {
  it('ends when its token is revoked, though the client sends nothing more', async () => {
    const grpc = await GrpcFixture.open({ cp: ZONE_EAST, open: false, authenticator });
    await authentication.tokens.ensureKey();
    const spec = { role: 'viewer', subjects: [{ kind: 'User', name: 'anna' }] };
    const change = { type: 'put', id: globalIdentity('RoleBinding', 'anna'), expect: 'any', labels: {}, spec } as const;
    await grpc.index.reached((await grpc.store.write({ changes: [change], onRefusal: 'abort' })).revision);
    const { id, token } = await authentication.tokens.issue({ name: 'anna' });
    const client = new ResourceServiceClient(grpc.address, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${token}`);
    const call = client.apply(metadata);
    const ended = new Promise<ServiceError>((resolve) => call.on('error', resolve));
    call.on('data', () => undefined);
    await until('the call to be under way', () => grpc.server.calls === 1);
    await authentication.tokens.revoke(id);
    const { code, metadata: trailers } = await ended;
    const [bytes] = trailers.get('grpc-status-details-bin');
    const [detail] = Buffer.isBuffer(bytes) ? RpcStatus.decode(bytes).details : [];
    expect([code, detail && ErrorInfo.decode(detail.value).reason]).toEqual([16, 'UNAUTHENTICATED']);
    await until('the call to be over', () => grpc.server.calls === 0);
    client.close();
    authentication.close();
    await grpc.close();
  });
});
