import {
  createMeshAuthority,
  findEnabledBackend,
  meshAuthoritySecrets,
  openSealedText,
  SEALED_LABEL,
  sealSpec,
  findSealingKeyId,
  type AuthorityPair,
  type SealingKeys,
} from '@causeway/identity';
import { Secret } from '@causeway/kinds';
import {
  computedLabels,
  withCondition,
  withoutConditions,
  type Condition,
  type Identity,
  type JsonObject,
  type Labels,
  type Resource,
} from '@causeway/resources';
import { errorText, type Logger } from '@causeway/runtime';
import type { Change, IndexEvent, IndexReader, PatchChange, WriteResult } from '@causeway/store';
import type { ControlLoop, LoopPlan } from '@causeway/loops';

/** Configuration of the loop. */
export interface MeshAuthorityConfig {
  /** Encrypt the key at rest; without them no authority is created. */
  readonly sealing: SealingKeys | undefined;
  readonly logger: Logger;
}

/** The condition of a Mesh about its `spec.mtls`. */
const CONDITION = 'MtlsAuthority';
/** Interval of the polls while an authority is being created, ms. */
const POLL_INTERVAL = 50;

/**
 * Creates the authority of each Mesh with `spec.mtls` of type `builtin`, on the global: two Secrets with Kuma's names, which zones of Kuma expect
 * from their global. The key is stored sealed. An existing authority is never replaced: a key that does not open is reported in a condition of the
 * Mesh. Meshes are few, so each change of one costs a scan of all.
 */
class MeshAuthorityLoop implements ControlLoop {
  readonly name = 'mesh-authority';
  private index: IndexReader | undefined;
  private isStale = false;
  /** Authorities that are not stored yet, by mesh and backend; undefined while one is being created. */
  private readonly made = new Map<string, AuthorityPair | undefined>();

  constructor(private readonly config: MeshAuthorityConfig) {}

  reset(index: IndexReader): void {
    this.index = index;
    this.isStale = true;
  }

  observe({ changes }: IndexEvent): void {
    if (changes.some(({ id }) => id.kind === 'Mesh' || id.kind === Secret.name)) this.isStale = true;
  }

  plan(now: number): LoopPlan | undefined {
    const { index } = this;
    if (!index || !this.isStale) return undefined;
    this.isStale = false;
    const meshes = [...index.ofKind('Mesh')];
    const changes = meshes.flatMap((mesh) => this.planMesh(mesh, index, now));
    const wanted = new Set(meshes.map(({ id, spec }) => formatAuthorityKey(id.name, findEnabledBackend(spec))));
    // A key stays in memory no longer than needed.
    for (const at of this.made.keys()) if (!wanted.has(at)) this.made.delete(at);
    return { changes, ...(this.isStale ? { wakeAt: now + POLL_INTERVAL } : {}) };
  }

  onWritten(_: readonly Change[], { results }: WriteResult): void {
    if (results.some(({ type }) => type === 'refused')) this.isStale = true;
  }

  private planMesh(mesh: Resource, index: IndexReader, now: number): readonly Change[] {
    const backend = findEnabledBackend(mesh.spec);
    if (backend === undefined) return [...planCondition(mesh, undefined, now)];
    const { sealing } = this.config;
    const { name } = mesh.id;
    const ids = meshAuthoritySecrets(name, backend);
    const [certificate, key] = [index.get(ids.certificate), index.get(ids.key)];
    if (certificate && key) {
      this.made.delete(formatAuthorityKey(name, backend));
      return [...resealed(key, sealing), ...planCondition(mesh, readyCondition(mesh, key, sealing), now)];
    }
    if (!sealing) {
      const message =
        'CAUSEWAY_SECRETS_KEY is not set: the key of the authority could not be stored sealed, so none is made';
      return [...planCondition(mesh, toCondition(mesh, 'NoSecretsKey', message), now)];
    }
    const pair = this.findPair(name, backend, now);
    return pair
      ? [secretPut(ids.certificate, certificate, parseSecret(pair.certificate)), ...keyPut(ids.key, key, pair, sealing)]
      : [];
  }

  /** Returns the authority once it is created; that takes some ms, and the plan is run again meanwhile. */
  private findPair(mesh: string, backend: string, now: number): AuthorityPair | undefined {
    const at = formatAuthorityKey(mesh, backend);
    const pair = this.made.get(at);
    if (pair) return pair;
    this.isStale = true;
    if (this.made.has(at)) return undefined;
    this.made.set(at, undefined);
    createMeshAuthority(mesh, now).then(
      (found) => {
        if (this.made.has(at)) this.made.set(at, found);
      },
      (error: unknown) => {
        this.made.delete(at);
        this.config.logger.error('the authority of a mesh could not be made', { mesh, error: errorText(error) });
      },
    );
    return undefined;
  }
}

/** Creates the loop of the authorities of meshes. */
export function createMeshAuthorityLoop(config: MeshAuthorityConfig): ControlLoop {
  return new MeshAuthorityLoop(config);
}

function formatAuthorityKey(mesh: string, backend = ''): string {
  return `${mesh}/${backend}`;
}

function secretPut(id: Identity, held: Resource | undefined, spec: JsonObject, more: Labels = {}): Change {
  const labels = { ...computedLabels(Secret, id, { role: 'global' }), ...more };
  return { type: 'put', id, expect: held?.revision ?? 'absent', labels, spec };
}

function keyPut(
  id: Identity,
  held: Resource | undefined,
  { privateKey }: Pick<AuthorityPair, 'privateKey'>,
  sealing: SealingKeys,
): readonly Change[] {
  return [secretPut(id, held, sealSpec(sealing, id, privateKey), { [SEALED_LABEL]: sealing.current })];
}

/** Seals a key again with the first sealing key if another one or none sealed it. */
function resealed(key: Resource, sealing: SealingKeys | undefined): readonly Change[] {
  if (!sealing || findSealingKeyId(key.spec) === sealing.current) return [];
  const privateKey = openText(key, sealing);
  return privateKey === undefined ? [] : keyPut(key.id, key, { privateKey }, sealing);
}

function openText({ id, labels, spec }: Resource, sealing: SealingKeys | undefined): string | undefined {
  const { data } = spec;
  if (labels[SEALED_LABEL] === undefined)
    return typeof data === 'string' ? Buffer.from(data, 'base64').toString('utf8') : undefined;
  const opened = sealing && openSealedText(sealing, id, spec);
  return opened?.ok === true ? opened.text : undefined;
}

function parseSecret(text: string): JsonObject {
  return { data: Buffer.from(text, 'utf8').toString('base64') };
}

function readyCondition(mesh: Resource, key: Resource, sealing: SealingKeys | undefined): Condition {
  if (openText(key, sealing) === undefined)
    return toCondition(
      mesh,
      'KeyUnreadable',
      `Secret ${key.id.name} does not open with CAUSEWAY_SECRETS_KEY; it is not replaced`,
    );
  const message =
    'every zone of Kuma has the key of this authority: whoever reads it in one of them can pose as any service that is known by Mesh.mtls';
  return { ...toCondition(mesh, 'Made', message), status: 'True' };
}

function toCondition({ generation }: Resource, reason: string, message: string): Condition {
  return { type: CONDITION, status: 'False', reason, message, observedGeneration: generation };
}

function planCondition(mesh: Resource, wanted: Condition | undefined, now: number): readonly PatchChange[] {
  const before = mesh.status ?? {};
  const status = wanted ? withCondition(before, wanted, now) : withoutConditions(before, [CONDITION]);
  return status === before ? [] : [{ type: 'patch', id: mesh.id, expect: mesh.revision, status }];
}
