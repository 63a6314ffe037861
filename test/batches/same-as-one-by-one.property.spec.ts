import fc from 'fast-check';
import { AccessPolicy, localAdmin } from '@causeway/access';
import { Admission, type BatchOutcome } from '@causeway/admission';
import { coreKinds } from '@causeway/kinds';
import { DomainError, Invalid, type ControlPlane, type JsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex, type ResourceStore } from '@causeway/store';
import { MemoryStore } from '@causeway/store/testing';
import type { PostgresBackend } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { meshesOf } from '../support/meshes';

const controlPlane: ControlPlane = { role: 'global' };
const context = { caller: localAdmin };

/** Admission over a store, as a control plane has it. */
class Plane {
  readonly index = new ResourceIndex();
  readonly admission: Admission;
  private readonly ended = new AbortController();
  private readonly following: Promise<void>;

  constructor(readonly store: ResourceStore) {
    const { index } = this;
    const access = new AccessPolicy({ registry: coreKinds, index, cp: controlPlane });
    this.admission = new Admission({
      registry: coreKinds,
      store,
      index,
      meshes: meshesOf(index),
      clock: systemClock,
      controlPlane,
      access,
    });
    const options = { clock: systemClock, logger: silentLogger, signal: this.ended.signal };
    this.following = followStore(store, index, options);
  }

  /** Returns the stored resources in the order of creation. */
  async state(): Promise<readonly unknown[]> {
    const { resources } = await this.store.snapshot();
    return [...resources]
      .sort((a, b) => a.creationOrder - b.creationOrder)
      .map(({ id, labels, spec, generation }) => ({ id, labels, spec, generation }));
  }

  async close(): Promise<void> {
    this.ended.abort();
    await this.following;
  }
}

/** A document of one of few resources; some are invalid, and some are of meshes that may not exist. */
const document = fc.record({
  kind: fc.constantFrom(
    'Mesh',
    'MeshMultiZoneService',
    'MeshMultiZoneService',
    'HostnameGenerator',
    'MeshService',
    'Nonsense',
  ),
  name: fc.constantFrom('a', 'b', 'c', 'Bad'),
  mesh: fc.constantFrom('a', 'b', 'none'),
  port: fc.constantFrom(80, 81, 0),
});

function bodyOf({ kind, name, mesh, port }: typeof document extends fc.Arbitrary<infer T> ? T : never): JsonObject {
  if (kind === 'Mesh') return { type: kind, name, labels: { port: String(port) } };
  if (kind === 'HostnameGenerator')
    return {
      type: kind,
      name,
      spec: { selector: { meshService: {} }, template: port === 0 ? '{{' : `{{ name }}.${port}` },
    };
  const spec = { selector: { meshService: { matchLabels: { a: 'b' } } }, ports: [{ port }] };
  return { type: kind, mesh, name, spec };
}

/** Batches of documents, no two of one resource in a batch: those a batch refuses. */
const batches = fc.array(
  fc.uniqueArray(document, {
    maxLength: 8,
    selector: (one) => `${one.kind}/${['Mesh', 'HostnameGenerator'].includes(one.kind) ? '' : one.mesh}/${one.name}`,
  }),
  { minLength: 1, maxLength: 4 },
);

function problemOf(error: unknown): unknown {
  if (!(error instanceof DomainError)) throw error;
  return [error.type, error instanceof Invalid ? error.violations : error.message];
}

const together = ({ results }: BatchOutcome): readonly unknown[] =>
  results.map((result) => (result.outcome === 'refused' ? problemOf(result.error) : result.outcome));

async function oneByOne({ admission, index }: Plane, bodies: readonly JsonObject[]): Promise<readonly unknown[]> {
  const outcomes: unknown[] = [];
  for (const body of bodies) {
    try {
      const { outcome, revision } = await admission.put({ body, context });
      await index.reached(revision);
      outcomes.push(outcome);
    } catch (error) {
      outcomes.push(problemOf(error));
    }
  }
  return outcomes;
}

describe('a batch whose documents are written each by itself', () => {
  let database: TestDatabase;
  const backends: PostgresBackend[] = [];
  beforeAll(async () => void (database = await createMigratedDatabase()));
  afterAll(async () => {
    await Promise.all(backends.map((backend) => backend.close()));
    await database.drop();
  });

  async function compared(batch: Plane, single: Plane, drawn: readonly (readonly JsonObject[])[]): Promise<void> {
    for (const bodies of drawn) {
      const documents = bodies.map((body) => ({ body }));
      expect(together(await batch.admission.apply({ documents, context }))).toEqual(await oneByOne(single, bodies));
      expect(await batch.state()).toEqual(await single.state());
    }
  }

  it('comes to what one write after the other comes to, in memory', async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (drawn) => {
        const planes = [new Plane(new MemoryStore()), new Plane(new MemoryStore())] as const;
        await compared(
          ...planes,
          drawn.map((one) => one.map(bodyOf)),
        );
        await Promise.all(planes.map((plane) => plane.close()));
      }),
      { numRuns: 30, endOnFailure: true },
    );
  });

  it('comes to what one write after the other comes to, in Postgres and in memory', async () => {
    const backend = await createPostgresBackend({ url: database.url });
    backends.push(backend);
    const planes = [new Plane(backend.store), new Plane(new MemoryStore())] as const;
    await fc.assert(
      fc.asyncProperty(batches, async (drawn) =>
        compared(
          ...planes,
          drawn.map((one) => one.map(bodyOf)),
        ),
      ),
      { numRuns: 40, endOnFailure: true },
    );
    await Promise.all(planes.map((plane) => plane.close()));
  });
});
