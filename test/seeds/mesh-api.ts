import { AccessPolicy } from '@causeway/access';
import { Admission } from '@causeway/admission';
import { coreKinds } from '@causeway/kinds';
import type { MeshOwner } from '@causeway/meshes';
import type { ControlPlane } from '@causeway/resources';
import { createRestServer, type RestServer } from '@causeway/rest/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex, type ResourceStore } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { meshesOf } from '../support/meshes';
import { createTestDatabase } from '../support/postgres';
import { restAccess } from '../support/rest-access';
import type { ParsedJson } from '../rest/rest-fixture';

const CP: ControlPlane = { role: 'global' };

/** An answer of REST. */
export interface Answer {
  readonly status: number;
  readonly body: ParsedJson;
}

/** The global's REST interface over a Postgres of its own, without control loops: no status is written. */
export class MeshApi {
  private constructor(
    readonly store: ResourceStore,
    private readonly server: RestServer,
    private readonly end: () => Promise<void>,
  ) {}

  static async open(owner?: MeshOwner): Promise<MeshApi> {
    const database = await createTestDatabase();
    const backend = await createPostgresBackend({ url: database.url });
    const { store, audit } = backend;
    const index = new ResourceIndex();
    const stop = new AbortController();
    const following = followStore(store, index, { clock: systemClock, logger: silentLogger, signal: stop.signal });
    const parts = { registry: coreKinds, store, index, meshes: meshesOf(index, owner), clock: systemClock };
    const policy = new AccessPolicy({ ...parts, cp: CP });
    const admission = new Admission({ ...parts, controlPlane: CP, access: policy });
    const server = await createRestServer({
      ...parts,
      audit,
      cp: CP,
      admission,
      logger: silentLogger,
      access: restAccess(policy),
      program: { version: '0.1.0', instanceId: 'test-1', config: {} },
    });
    return new MeshApi(store, server, async () => {
      await server.close();
      policy.close();
      stop.abort();
      await backend.close();
      await following;
      await database.drop();
    });
  }

  close(): Promise<void> {
    return this.end();
  }

  /** One request; a `body` is sent as JSON. */
  async ask(method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE', url: string, body?: object): Promise<Answer> {
    const { statusCode, body: text } = await this.server.inject({ method, url, ...(body ? { payload: body } : {}) });
    return { status: statusCode, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** A batch; the lines of the answer, the last of which is the summary. */
  async apply(documents: readonly object[]): Promise<readonly ParsedJson[]> {
    const { body } = await this.server.inject({ method: 'POST', url: '/_apply', payload: [...documents] });
    return body
      .split('\n')
      .filter(Boolean)
      .map((line): ParsedJson => JSON.parse(line));
  }

  /** The revision of the newest write. */
  async revision(): Promise<number> {
    return (await this.store.head()).revision;
  }
}
