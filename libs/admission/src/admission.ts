import type { Verb } from '@causeway/access';
import { isTerminating } from '@causeway/meshes';
import {
  Conflict,
  FieldPath,
  Invalid,
  isJsonObject,
  Label,
  NotFound,
  ownZone,
  type Identity,
  type Kind,
  type Resource,
} from '@causeway/resources';
import type { Change, WriteRequest } from '@causeway/store';
import type { AdmissionParts } from './admission-parts';
import type { BatchOutcome, BatchRequest } from './batch/batch';
import { BatchWrite, type PlannedDocument } from './batch/batch-write';
import { decodeDocument } from './document/decode-document';
import { draftIdentity, type DecodedDocument, type Target } from './document/document';
import { throwIfInvalid } from './document/document-report';
import { toDocument } from './document/render-document';
import {
  catchUp,
  checkNewMember,
  configuredFields,
  describeMembers,
  InUse,
  membershipRead,
  meshExists,
  placed,
} from './mesh-rules';
import { mergePatch, planWrite } from './plan-write';
import {
  checkPrecondition,
  etagOf,
  type DeleteOutcome,
  type DeleteRequest,
  type PatchRequest,
  type PutRequest,
  type WriteAddress,
  type WriteOptions,
  type WriteOutcome,
} from './requests';
import { identityNamed, notFound, resolveWireName } from './resolve-name';
import { auditOf, checkMadeHere, checkWritable } from './rights';
import { validateDraft, type ValidatedDraft } from './validate-draft';

/** Most tries of one request against concurrent writes; each try checks If-Match against what it read. */
const TRIES = 4;

const CREATE: readonly Verb[] = ['create'];
const UPDATE: readonly Verb[] = ['update'];
const DELETE: readonly Verb[] = ['delete'];
/** Until the stored state is known, a PUT needs one of these. */
const PUT_VERBS: readonly Verb[] = ['create', 'update'];

/**
 * The only way in for user writes: authorise → decode → defaults → labels → validate → store. The caller needs the right
 * to create, update or delete, whichever the write does (docs/design.md §6 Roles); without it nothing is said of the
 * resource, nor whether it exists. A request without an address is authorised after it is decoded, by kind, mesh and
 * namespace of the document. Every method throws Forbidden (the kind is not written here, no binding lets the caller, the
 * resource was made elsewhere), NotFound (mesh or resource of the address),
 * Invalid (all violations), PreconditionFailed, Conflict (raced in every try), InUse, Unavailable. After any other error
 * than Unavailable nothing was written. A write of equal content writes nothing.
 */
export class Admission {
  constructor(private readonly parts: AdmissionParts) {}

  /** Creates or replaces. */
  async put(request: PutRequest): Promise<WriteOutcome> {
    const address = request.address && this.inMesh(request.address);
    // Without a namespace in the address the document has it.
    const isWhole = address && (!address.kind.namespaced || address.namespace !== undefined);
    if (isWhole) await this.authorise(address, request, PUT_VERBS);
    const decoded = decodeDocument(this.parts.registry, request.body, this.targetOf(address, request));
    const { namespace } = decoded.draft;
    if (address && !isWhole) await this.authorise({ ...address, namespace }, request, PUT_VERBS);
    return this.retry(async (tries) => {
      const isFirst = tries === 0 && request.dryRun !== true;
      if (!isFirst && !decoded.namesMesh) await this.catchUp();
      const document = this.placed(decoded);
      if (!address) this.authoriseDraft(document, request);
      const draft = await this.validate(document, address);
      return isFirst ? this.storeByIndex(document, draft, request) : this.storeOnce(document, draft, request);
    });
  }

  /** Changes the fields that the patch names; NotFound if there is nothing to change. */
  async patch(request: PatchRequest): Promise<WriteOutcome> {
    const { patch } = request;
    const address = this.inMesh(request.address);
    await this.authorise(address, request, UPDATE);
    if (!isJsonObject(patch)) throw new Invalid([FieldPath.at().violation('the patch must be an object')]);
    return this.retry(async () => {
      const stored = await this.find(address, request, UPDATE);
      const body = mergePatch(toDocument(address.kind, stored), patch);
      const decoded = decodeDocument(this.parts.registry, body, targetAt(stored, address));
      return this.storeOnce(decoded, await this.validate(decoded, address), request, stored);
    });
  }

  /**
   * Creates or replaces many resources as one write, in the order of the documents: all or none of them (`atomic`), or each
   * by itself as `put` does. What a document breaks is in its result. A Mesh counts for the documents behind it; a right
   * that a RoleBinding of the batch gives does not. Documents of the same resource are all refused. Throws Invalid for a
   * batch that is too long, and Unavailable where nothing, or of an atomic batch nothing or all, was written.
   */
  apply(request: BatchRequest): Promise<BatchOutcome> {
    const rules = {
      authorise: (decoded: DecodedDocument) => this.authoriseDraft(decoded, request),
      plan: (document: PlannedDocument) => this.plan(document, request),
    };
    return new BatchWrite(this.parts, rules, request).run();
  }

  /** Deletes; NotFound if there is nothing, InUse if other resources need it. */
  async delete(request: DeleteRequest): Promise<DeleteOutcome> {
    const address = this.inMesh(request.address);
    await this.authorise(address, request, DELETE);
    return this.retry(async () => this.deleteOnce({ ...request, address }));
  }

  /** The resource that a document means; undefined where it does not say. */
  identityOf(body: unknown): Identity | undefined {
    try {
      const { draft } = this.placed(decodeDocument(this.parts.registry, body, {}));
      return draftIdentity(draft, ownZone(this.parts.controlPlane));
    } catch (error) {
      if (error instanceof Invalid) return undefined;
      throw error;
    }
  }

  /**
   * Checks that the kind is written here, that the caller may do one of `verbs` at the address, and only then that its mesh
   * exists and that the resource was not made elsewhere.
   */
  private async authorise(address: WriteAddress, options: WriteOptions, verbs: readonly Verb[]): Promise<void> {
    const { access, controlPlane } = this.parts;
    checkWritable(address.kind, controlPlane, identityNamed(address, controlPlane));
    access.authorise(options.context.caller, verbs, this.identityAt(address, options, verbs));
    const { kind, mesh = '' } = address;
    if (kind.scope === 'mesh' && !(await this.hasMesh(mesh))) throw new NotFound(`mesh "${mesh}" does not exist`);
    // A resource of another zone was not made here: `find` throws Forbidden, or NotFound if there is none.
    if (address.zone !== undefined && address.zone !== ownZone(controlPlane)) await this.find(address, options, verbs);
  }

  private authoriseDraft({ draft }: DecodedDocument, { context }: Pick<WriteOptions, 'context'>): void {
    const { access, controlPlane } = this.parts;
    checkWritable(draft.kind, controlPlane);
    access.authorise(context.caller, PUT_VERBS, draftIdentity(draft, ownZone(controlPlane)));
  }

  /** The identity that an address means. A wire name counts only if the caller may write the resource that has it. */
  private identityAt(address: WriteAddress, { context }: WriteOptions, verbs: readonly Verb[]): Identity {
    const { access, controlPlane, index } = this.parts;
    const named = identityNamed(address, controlPlane);
    const wired = index.get(named) ? undefined : resolveWireName(index, address);
    return wired && access.may(context.caller, verbs, wired.id) ? wired.id : named;
  }

  private hasMesh(mesh: string): Promise<boolean> {
    return meshExists(mesh, this.parts.store, this.parts.meshes);
  }

  /** An address that names no mesh means the expected one (row T000-14). */
  private inMesh(address: WriteAddress): WriteAddress {
    const { expectedName } = this.parts.meshes.owner;
    return address.kind.scope === 'mesh' ? { ...address, mesh: address.mesh ?? expectedName } : address;
  }

  private placed(decoded: DecodedDocument): DecodedDocument {
    return placed(decoded, this.parts, this.parts.meshes);
  }

  private catchUp(): Promise<number> {
    const { store, index, clock } = this.parts;
    return catchUp(store, index, clock);
  }

  /** What the document must repeat of the address. A wire name is replaced by the plain name. */
  private targetOf(address: WriteAddress | undefined, options: WriteOptions): Target {
    if (!address) return {};
    const wired = this.parts.index.get(this.identityAt(address, options, PUT_VERBS));
    if (!wired || wired.id.name === address.name) return address;
    checkMadeHere(wired, this.parts.controlPlane);
    return targetAt(wired, address);
  }

  /**
   * The stored resource at an address whose rights were checked, read from the primary. Throws NotFound, or Forbidden if it
   * was made elsewhere.
   */
  private async find(address: WriteAddress, options: WriteOptions, verbs: readonly Verb[]): Promise<Resource> {
    const { access, store, index, controlPlane } = this.parts;
    const { caller } = options.context;
    const found = await store.get(this.identityAt(address, options, verbs));
    if (!found) throw notFound(index, controlPlane, address, (id) => access.may(caller, ['get'], id));
    checkMadeHere(found, controlPlane);
    return found;
  }

  private async validate(decoded: DecodedDocument, address: WriteAddress | undefined): Promise<ValidatedDraft> {
    const { controlPlane, meshes } = this.parts;
    const draft = validateDraft(decoded, controlPlane, configuredFields(meshes.owner));
    const { kind, mesh } = decoded.draft;
    const lost = !address && kind.scope === 'mesh' && !(await this.hasMesh(mesh));
    if (lost) draft.violations.add(FieldPath.at('mesh'), 'invalid', () => `there is no mesh "${mesh}"`);
    throwIfInvalid(draft.violations);
    return draft;
  }

  /**
   * The first try goes by what the index holds, which saves a read: the write itself fails if that is not the newest
   * state. A refusal and "nothing to write" are not decided here, but from the primary at the next try.
   */
  private async storeByIndex(
    { draft: { kind } }: DecodedDocument,
    draft: ValidatedDraft,
    options: WriteOptions,
  ): Promise<WriteOutcome | undefined> {
    const { index, meshes } = this.parts;
    const stored = index.get(draft.id);
    try {
      if (this.plan({ draft, kind, stored, meshes }, options).outcome === 'unchanged') return undefined;
    } catch {
      return undefined;
    }
    return this.store(draft, kind, options, stored);
  }

  private async storeOnce(
    { draft: { kind } }: DecodedDocument,
    draft: ValidatedDraft,
    options: WriteOptions,
    read?: Resource,
  ): Promise<WriteOutcome | undefined> {
    const stored = read ?? (await this.parts.store.get(draft.id));
    if (!stored && kind.scope === 'mesh') await this.catchUp();
    return this.store(draft, kind, options, stored);
  }

  private async store(
    draft: ValidatedDraft,
    kind: Kind,
    options: WriteOptions,
    stored: Resource | undefined,
  ): Promise<WriteOutcome | undefined> {
    const planned = this.plan({ draft, kind, stored, meshes: this.parts.meshes }, options);
    const { id, labels, spec } = planned;
    if (planned.outcome === 'unchanged' || options.dryRun === true) return planned;
    const written = await this.write(
      { type: 'put', id, expect: stored?.revision ?? 'absent', labels, spec, audit: auditOf(options) },
      membershipRead(!stored && kind.scope === 'mesh', this.parts.index.point?.revision),
    );
    return written && { ...planned, revision: written.revision, etag: etagOf(written) };
  }

  /** What a write over `stored` comes to; throws if it is not allowed. */
  private plan({ draft, kind, stored, meshes }: PlannedDocument, options: WriteOptions): WriteOutcome {
    this.parts.access.authorise(options.context.caller, stored ? UPDATE : CREATE, draft.id);
    checkPrecondition(options.ifMatch, stored);
    if (stored) checkMadeHere(stored, this.parts.controlPlane);
    else checkNewMember(kind, draft.id, meshes);
    return planWrite(kind, draft, stored);
  }

  private async deleteOnce(request: DeleteRequest): Promise<DeleteOutcome | undefined> {
    const stored = await this.find(request.address, request, DELETE);
    const { id, revision } = stored;
    checkPrecondition(request.ifMatch, stored);
    const isMesh = id.kind === 'Mesh';
    if (isMesh) await this.catchUp();
    const members = isMesh ? describeMembers(id.name, this.parts.registry, this.parts.index) : undefined;
    if (members !== undefined) return this.keepMesh(stored, members, request);
    if (request.dryRun === true) return { outcome: 'deleted', id, revision };
    const audit = auditOf(request);
    const read = isMesh ? { unchanged: { revision: this.parts.index.point?.revision ?? 0, mesh: id.name } } : {};
    const written = await this.write({ type: 'delete', id, expect: revision, audit }, read);
    return written && { outcome: 'deleted', id, revision: written.revision };
  }

  /** Throws InUse, after it has marked the Mesh as terminating where the request asks for that; undefined if it raced. */
  private async keepMesh(stored: Resource, members: string, request: DeleteRequest): Promise<undefined> {
    const { id, revision, labels, spec } = stored;
    const ends = isTerminating(labels) || (request.terminate === true && request.dryRun !== true);
    if (ends && !isTerminating(labels)) {
      const marked = { ...labels, [Label.terminating]: 'true' };
      const change = { type: 'put', id, expect: revision, labels: marked, spec, audit: auditOf(request) } as const;
      if (!(await this.write(change))) return undefined;
    }
    throw new InUse(ends ? `${members}; the mesh is being terminated and takes no new members` : members);
  }

  /** Writes one change. Undefined if a concurrent write came first; any other refusal of the store is thrown. */
  private async write(
    change: Change,
    read: Pick<WriteRequest, 'unchanged'> = {},
  ): Promise<{ revision: number; uid: string; generation: number } | undefined> {
    const { revision, results } = await this.parts.store.write({ changes: [change], onRefusal: 'skip', ...read });
    const [result] = results;
    if (!result) return undefined;
    if (result.type !== 'refused') return { revision, uid: result.uid, generation: result.generation };
    switch (result.refusal) {
      case 'conflict':
      case 'exists':
      case 'absent':
      case 'outdated':
        return undefined;
      case 'unstorable':
        throw new Invalid([FieldPath.at().violation(result.detail, 'not-text')]);
      case 'older':
      case 'vip-taken':
        throw new Conflict(result.detail);
    }
  }

  /** Runs `attempt` until it wins: a controller may write the status between its read and its write. */
  private async retry<T>(attempt: (tries: number) => Promise<T | undefined>): Promise<T> {
    for (let i = 0; i < TRIES; i++) {
      const result = await attempt(i);
      if (result !== undefined) return result;
    }
    throw new Conflict('somebody else wrote it at the same time; read it again and retry');
  }
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
