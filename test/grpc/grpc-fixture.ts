import { AccessPolicy, AuditRecorder, Authenticator, CallerRates, type ServerCertificates } from '@causeway/access';
import type { CallerRateSettings, TokenVerifier } from '@causeway/access/testing';
import { Admission } from '@causeway/admission';
import { namingInsights } from '@causeway/control-plane/testing';
import { HostnameExplainer, createQueries, type Queries } from '@causeway/queries';
import type { GrpcApiOptions } from '@causeway/grpc-api';
import { GrpcApiServer } from '@causeway/grpc-api/testing';
import { FollowedPolicies, FollowedRoutes, getRegistry } from '@causeway/meshes';
import type { QueryLimits } from '@causeway/queries/testing';
import { globalIdentity, ownZone, type ControlPlane } from '@causeway/resources';
import { silentLogger, systemClock, type Clock } from '@causeway/runtime';
import { followStore, ResourceIndex } from '@causeway/store';
import { fillAtOnce, MemoryAudit, MemoryDisk, MemoryStore } from '@causeway/store/testing';
import type { ConnectionLimits } from '@causeway/grpc-server';
import { OpenAuthenticator } from '../support/admin-credential';
import { meshesOf } from '../support/meshes';

/** Options of a GrpcFixture. */
export interface GrpcFixtureOptions {
  readonly cp?: ControlPlane;
  readonly limits?: Partial<QueryLimits>;
  readonly connections?: ConnectionLimits;
  /** False: a caller without credentials is anonymous, as in a control plane. */
  readonly open?: boolean;
  readonly certificates?: ServerCertificates;
  readonly verifiers?: readonly TokenVerifier[];
  /** Makes the authenticator from the server's sources, in place of one of `verifiers`. */
  readonly authenticator?: (parts: {
    readonly cp: ControlPlane;
    readonly store: MemoryStore;
    readonly index: ResourceIndex;
  }) => Authenticator;
  readonly rates?: CallerRateSettings;
  readonly notReady?: () => string | undefined;
  /** The time of the server alone. */
  readonly clock?: Clock;
  readonly observe?: GrpcApiOptions['observe'];
}

export const OPERATOR_TOKEN = 'the-operator-token-of-tests';
const EAST: ControlPlane = { role: 'zone', zone: 'east', federated: false };

/** The gRPC API over a memory store with everything real behind it; a mesh `default` exists. */
export class GrpcFixture {
  readonly store = new MemoryStore(new MemoryDisk());
  readonly index = new ResourceIndex();
  readonly policy: AccessPolicy;
  readonly admission: Admission;
  readonly queries: Queries;
  readonly server: GrpcApiServer;
  readonly audit = new MemoryAudit(this.store.disk);
  private readonly explainer: HostnameExplainer;
  private readonly routes: FollowedRoutes;
  private readonly policies: FollowedPolicies;
  private readonly recorder = new AuditRecorder({ log: this.audit, clock: systemClock, logger: silentLogger });
  port = 0;
  private readonly stop = new AbortController();
  private following: Promise<void> = Promise.resolve();

  private constructor(options: GrpcFixtureOptions) {
    const { cp = EAST, limits = {}, open = true, verifiers = [], rates } = options;
    const Recognition = open ? OpenAuthenticator : Authenticator;
    const { store, index, audit, recorder } = this;
    const shared = { registry: getRegistry(index), store, index, meshes: meshesOf(index), clock: systemClock, cp };
    this.policy = new AccessPolicy(shared);
    this.explainer = new HostnameExplainer(index, cp);
    this.admission = new Admission({ ...shared, controlPlane: cp, access: this.policy });
    const { meshes } = shared;
    this.routes = new FollowedRoutes({ index, meshes, zone: ownZone(cp), run: fillAtOnce });
    this.policies = new FollowedPolicies({ index, meshes, routes: this.routes, run: fillAtOnce });
    this.queries = createQueries({
      ...shared,
      policies: this.policies,
      audit,
      limits,
      insights: namingInsights({ cp }, this.explainer),
      program: { version: '1', instanceId: 'test', config: {} },
    });
    this.server = new GrpcApiServer({
      ...shared,
      queries: this.queries,
      admission: this.admission,
      policy: this.policy,
      recorder,
      rates: rates && new CallerRates(rates, systemClock),
      authenticator:
        options.authenticator?.({ cp, store, index }) ??
        new Recognition({ verifiers, clock: systemClock, operatorToken: OPERATOR_TOKEN }),
      clock: options.clock ?? systemClock,
      notReady: options.notReady ?? (() => undefined),
      logger: silentLogger,
      host: '127.0.0.1',
      port: 0,
      certificates: () => options.certificates,
      ...(options.observe ? { observe: options.observe } : {}),
      ...(options.connections ? { connections: options.connections } : {}),
    });
  }

  static async open(options: GrpcFixtureOptions = {}): Promise<GrpcFixture> {
    const fixture = new GrpcFixture(options);
    const { store, index } = fixture;
    const following = { clock: systemClock, logger: silentLogger, signal: fixture.stop.signal };
    fixture.following = followStore(store, index, following);
    const mesh = { type: 'put', id: globalIdentity('Mesh', 'default'), expect: 'any', labels: {}, spec: {} } as const;
    await index.reached((await store.write({ changes: [mesh], onRefusal: 'abort' })).revision);
    fixture.port = await fixture.server.listen();
    return fixture;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    await this.server.close();
    this.queries.close();
    this.policies.close();
    this.routes.close();
    this.explainer.close();
    await this.recorder.close();
    this.policy.close();
    this.stop.abort();
    await this.store.close();
    await this.following;
  }
}
