import {
  type Identity,
  Conflict,
  FieldPath,
  Invalid,
  isJsonObject,
  jsonEqual,
  NotFound,
  ownZone,
  type ControlPlane,
  type Registry,
  type Resource,
} from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { ChangeResult, IndexReader, ResourceStore } from '@causeway/store';
import { decodeDocument } from './document/decode-document';
import type { DecodedDocument, Target } from './document/document';
import { checkPrecondition, etagOf } from './etag';
import { checkImmutable, validateDraft, withServerOwned, type ValidatedDraft } from './validate-draft';
import { throwIfInvalid } from './findings';
import { mergePatch } from './merge-patch';
import { catchUp, checkMeshEmpty, meshExists } from './mesh-rules';
import { toDocument } from './document/render-document';
import type {
  DeleteOutcome,
  DeleteRequest,
  PatchRequest,
  PutRequest,
  WriteAddress,
  WriteOptions,
  WriteOutcome,
} from './requests';
import { identityNamed, notFound, resolveWireName } from './resolve-name';
import { checkMadeHere, checkOperator, checkWritable } from './rights';
import { managedByWarnings } from './takeover';

/** What admission works with. */
export interface AdmissionParts {
  readonly registry: Registry;
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly controlPlane: ControlPlane;
  readonly clock: Clock;
  /** An operator token is configured: kinds with writer `operator` need it. */
  readonly operatorToken: boolean;
}

/** Tries of one request against writes that race with it; each checks If-Match against what it read. */
const TRIES = 4;

/**
 * The only door for user writes: decode → defaults → labels → validate → authorise → store. Every method throws
 * Forbidden (kind not written here, made elsewhere, operator only), NotFound (mesh or resource of the address), Invalid
 * (all violations), PreconditionFailed, Conflict (still raced after some tries), InUse, Unavailable; after a throw
 * other than Unavailable nothing was written. Equal content writes nothing.
 */
export class Admission {
  constructor(private readonly parts: AdmissionParts) {}

  /** Creates or replaces. */
  async put(request: PutRequest): Promise<WriteOutcome> {
    const { address } = request;
    if (address) await this.checkAddress(address, request);
    const target = this.targetOf(address);
    const decoded = decodeDocument(this.parts.registry, request.body, target);
    if (!address) this.checkRights(decoded.draft.kind, request);
    const judgement = await this.validate(decoded, address);
    return this.retry(async (tries) =>
      tries === 0 && request.dryRun !== true
        ? this.storeByIndex(decoded, judgement, request)
        : this.storeOnce(decoded, judgement, request),
    );
  }

  /** Changes what the patch names; NotFound where there is nothing to change. */
  async patch(request: PatchRequest): Promise<WriteOutcome> {
    const { address, patch } = request;
    await this.checkAddress(address, request);
    if (!isJsonObject(patch)) throw new Invalid([FieldPath.at().violation('the patch must be an object')]);
    return this.retry(async () => {
      const stored = await this.find(address);
      const body = mergePatch(toDocument(address.kind, stored), patch);
      const decoded = decodeDocument(this.parts.registry, body, targetAt(stored, address));
      return this.storeOnce(decoded, await this.validate(decoded, address), request, stored);
    });
  }

  /** Deletes; NotFound where there is nothing, InUse where others need it. */
  async delete(request: DeleteRequest): Promise<DeleteOutcome> {
    const { address } = request;
    await this.checkAddress(address, request);
    return this.retry(async () => this.deleteOnce(request));
  }

  private async checkAddress(address: WriteAddress, options: WriteOptions): Promise<void> {
    this.checkRights(address.kind, options, identityNamed(address, this.parts.controlPlane));
    const { kind, mesh = 'default' } = address;
    if (kind.scope === 'mesh' && !(await this.hasMesh(mesh))) throw new NotFound(`mesh "${mesh}" does not exist`);
    if (address.zone !== undefined && address.zone !== ownZone(this.parts.controlPlane)) {
      // Whatever has that zone as its origin was not made here: `find` says so, or that there is none.
      await this.find(address);
    }
  }

  private checkRights(kind: WriteAddress['kind'], options: WriteOptions, id?: Identity): void {
    checkWritable(kind, this.parts.controlPlane, id);
    checkOperator(kind, options.context, this.parts.operatorToken);
  }

  private hasMesh(mesh: string): Promise<boolean> {
    return meshExists(mesh, this.parts.store, this.parts.index);
  }

  /** The address as the document must repeat it; a wire name stands for the plain one. */
  private targetOf(address: WriteAddress | undefined): Target {
    if (!address) return {};
    const wired = this.parts.index.get(identityNamed(address, this.parts.controlPlane))
      ? undefined
      : resolveWireName(this.parts.index, address);
    if (wired) checkMadeHere(wired, this.parts.controlPlane);
    return wired ? targetAt(wired, address) : address;
  }

  /** The stored resource of an address, made here; read from the primary. */
  private async find(address: WriteAddress): Promise<Resource> {
    const { store, index, controlPlane } = this.parts;
    const plain = await store.get(identityNamed(address, controlPlane));
    const wired = plain ? undefined : resolveWireName(index, address);
    const found = plain ?? (wired && (await store.get(wired.id)));
    if (!found) throw notFound(index, controlPlane, address);
    checkMadeHere(found, controlPlane);
    return found;
  }

  private async validate(decoded: DecodedDocument, address: WriteAddress | undefined): Promise<ValidatedDraft> {
    const judgement = validateDraft(decoded, this.parts.controlPlane);
    const { kind, mesh } = decoded.draft;
    const lost = !address && kind.scope === 'mesh' && !(await this.hasMesh(mesh));
    if (lost) judgement.violations.add(FieldPath.at('mesh'), 'invalid', () => `there is no mesh "${mesh}"`);
    throwIfInvalid(judgement.violations);
    return judgement;
  }

  /**
   * The first try goes by what the index holds, which spares a read: the write itself finds out when that is not the
   * newest. What would be refused or left unwritten is not decided here, but by the primary at the next try.
   */
  private async storeByIndex(
    decoded: DecodedDocument,
    judgement: ValidatedDraft,
    options: WriteOptions,
  ): Promise<WriteOutcome | undefined> {
    const held = this.parts.index.get(judgement.id);
    try {
      if (this.draft(decoded, judgement, options, held).outcome === 'unchanged') return undefined;
    } catch {
      return undefined;
    }
    return this.store(decoded, judgement, options, held);
  }

  private async storeOnce(
    decoded: DecodedDocument,
    judgement: ValidatedDraft,
    options: WriteOptions,
    read?: Resource,
  ): Promise<WriteOutcome | undefined> {
    return this.store(decoded, judgement, options, read ?? (await this.parts.store.get(judgement.id)));
  }

  private async store(
    decoded: DecodedDocument,
    judgement: ValidatedDraft,
    options: WriteOptions,
    stored: Resource | undefined,
  ): Promise<WriteOutcome | undefined> {
    const draft = this.draft(decoded, judgement, options, stored);
    const { id, labels, spec } = draft;
    if (draft.outcome === 'unchanged' || options.dryRun === true) return draft;
    const written = await this.write({ type: 'put', id, expect: stored?.revision ?? 'absent', labels, spec });
    return written && { ...draft, revision: written.revision, etag: etagOf(written) };
  }

  /** What a write over `stored` would come to; throws where it may not. */
  private draft(
    { draft: { kind } }: DecodedDocument,
    { id, labels, warnings, spec: asked }: ValidatedDraft,
    options: WriteOptions,
    stored: Resource | undefined,
  ): WriteOutcome {
    checkPrecondition(options.ifMatch, stored);
    if (stored) checkMadeHere(stored, this.parts.controlPlane);
    const frozen = checkImmutable(kind.immutable, asked, stored);
    if (frozen.length > 0) throw new Invalid(frozen);
    const spec = withServerOwned(asked, kind.serverOwned, stored);
    const result = { id, labels, spec, warnings, revision: stored?.revision ?? 0 };
    if (stored && jsonEqual(stored.labels, labels) && jsonEqual(stored.spec, spec)) {
      return { ...result, outcome: 'unchanged', etag: etagOf(stored) };
    }
    const told = { warnings: [...warnings, ...managedByWarnings(stored, labels)] };
    return { ...result, ...told, outcome: stored ? 'updated' : 'created' };
  }

  private async deleteOnce(request: DeleteRequest): Promise<DeleteOutcome | undefined> {
    const { store, index, clock, registry } = this.parts;
    const stored = await this.find(request.address);
    const { id, revision } = stored;
    checkPrecondition(request.ifMatch, stored);
    if (id.kind === 'Mesh') {
      await catchUp(store, index, clock);
      checkMeshEmpty(id.name, registry, index);
    }
    if (request.dryRun === true) return { outcome: 'deleted', id, revision };
    const written = await this.write({ type: 'delete', id, expect: revision });
    return written && { outcome: 'deleted', id, revision: written.revision };
  }

  /** One change; undefined when another write was faster. */
  private async write(change: Parameters<ResourceStore['write']>[0]['changes'][number]): Promise<Written | undefined> {
    const { revision, results } = await this.parts.store.write({ changes: [change], onRefusal: 'skip' });
    const result: ChangeResult | undefined = results[0];
    return result && result.type !== 'refused'
      ? { revision, uid: result.uid, generation: result.generation }
      : undefined;
  }

  /** Runs `attempt` until it is not raced: a controller's status write may come between reading and writing. */
  private async retry<T>(attempt: (tries: number) => Promise<T | undefined>): Promise<T> {
    for (let i = 0; i < TRIES; i++) {
      const result = await attempt(i);
      if (result !== undefined) return result;
    }
    throw new Conflict('somebody else wrote it at the same time; read it again and retry');
  }
}

interface Written {
  readonly revision: number;
  readonly uid: string;
  readonly generation: number;
}

function targetAt(resource: Resource, address: WriteAddress): Target {
  const { id } = resource;
  return {
    kind: address.kind,
    ...(address.kind.scope === 'mesh' ? { mesh: id.mesh } : {}),
    ...(address.kind.namespaced ? { namespace: id.namespace } : {}),
    name: id.name,
  };
}
