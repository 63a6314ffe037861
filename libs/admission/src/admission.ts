import type { Verb } from '@causeway/access';
import {
  DomainError,
  FieldPath,
  Invalid,
  isJsonObject,
  NotFound,
  ownZone,
  Unavailable,
  type Identity,
  type Resource,
} from '@causeway/resources';
import type { AdmissionParts } from './admission-parts';
import type { BatchOutcome, BatchRequest } from './batch/batch';
import { BatchWrite, type PlannedDocument } from './batch/batch-write';
import { decodeDocument } from './document/decode-document';
import { draftIdentity, type DecodedDocument, type WriteTarget } from './document/document';
import { throwIfInvalid } from './document/document-report';
import { toDocument } from './document/render-document';
import { catchUp, configuredFields, meshExists, assignMesh } from './mesh-rules';
import { mergePatch } from './plan-write';
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
import { checkMadeHere, checkWritable } from './rights';
import { deleteOnce, SingleWrite, untilWritten } from './single-write';
import { tracedRequest } from './traced-write';
import { validateDraft, type ValidatedDraft } from './validate-draft';

const UPDATE: readonly Verb[] = ['update'];
const DELETE: readonly Verb[] = ['delete'];
/** A PUT needs one of these until the stored state is known. */
const PUT_VERBS: readonly Verb[] = ['create', 'update'];

/**
 * The only entry for user writes: authorise → decode → defaults → labels → validate → store. The caller needs the right
 * to create, update or delete, whichever the write does (docs/design.md §6 Roles); without it the answer reveals
 * nothing of the resource, not even whether it exists. A request without an address is authorised after it is decoded,
 * by kind, mesh and namespace of the document. Every method throws Forbidden (the kind is not written here, no binding
 * allows the caller, the resource was made elsewhere), NotFound (mesh or resource of the address), Invalid (all
 * violations), PreconditionFailed, Conflict (raced in every try), InUse, Unavailable. After any error other than
 * Unavailable nothing was written. A write of equal content writes nothing.
 */
export class Admission {
  constructor(private readonly parts: AdmissionParts) {}

  /** Creates or replaces. */
  put(request: PutRequest): Promise<WriteOutcome> {
    return tracedRequest(this.parts, 'put', request, (traced) => this.putOne(traced));
  }

  private async putOne(request: PutRequest): Promise<WriteOutcome> {
    const address = request.address && this.inMesh(request.address);
    // If the address has no namespace, the document's is used.
    const isWhole = address && (!address.kind.namespaced || address.namespace !== undefined);
    if (isWhole) await this.authorise(address, request, PUT_VERBS);
    const decoded = decodeDocument(this.parts.registry, request.body, this.resolveTarget(address, request));
    const { namespace } = decoded.draft;
    if (address && !isWhole) await this.authorise({ ...address, namespace }, request, PUT_VERBS);
    const write = new SingleWrite(this.parts, request);
    return untilWritten(async (tries) => {
      if (!decoded.namesMesh) return this.putPlaced(decoded, write, request);
      if (!address) this.authoriseDraft(decoded, request);
      const draft = await this.validate(decoded, address);
      const isFirst = tries === 0 && request.dryRun !== true;
      return isFirst ? write.byIndex(decoded, draft) : write.byStore(decoded, draft);
    });
  }

  /** Changes the fields that the patch names; NotFound if there is nothing to change. */
  patch(request: PatchRequest): Promise<WriteOutcome> {
    return tracedRequest(this.parts, 'patch', request, (traced) => this.patchOne(traced));
  }

  private async patchOne(request: PatchRequest): Promise<WriteOutcome> {
    const { patch } = request;
    const address = this.inMesh(request.address);
    await this.authorise(address, request, UPDATE);
    if (!isJsonObject(patch)) throw new Invalid([FieldPath.at().violation('the patch must be an object')]);
    const write = new SingleWrite(this.parts, request);
    return untilWritten(async () => {
      const stored = await this.find(address, request, UPDATE);
      const body = mergePatch(toDocument(address.kind, stored), patch);
      const decoded = decodeDocument(this.parts.registry, body, targetAt(stored, address));
      return write.byStore(decoded, await this.validate(decoded, address), stored);
    });
  }

  /**
   * Creates or replaces many resources in one write, in the order of the documents: all or none of them (`atomic`), or each individually like `put`.
   * The violations of a document are in its result. A Mesh, a VirtualNode and a MetaresourceDefinition apply to the documents after them; a right
   * that a RoleBinding of the batch gives does not. If several documents name one resource, all of them are refused. Throws Invalid for a batch that
   * is too long, and Unavailable if nothing was written, or if for an atomic batch it is unknown whether all was.
   */
  apply(request: BatchRequest): Promise<BatchOutcome> {
    return tracedRequest(this.parts, 'apply', request, (traced) => this.applyAll(traced));
  }

  private applyAll(request: BatchRequest): Promise<BatchOutcome> {
    const write = new SingleWrite(this.parts, request);
    const rules = {
      authorise: (decoded: DecodedDocument) => this.authoriseDraft(decoded, request),
      prepare: (stored: Iterable<Resource | undefined>) => write.prepare(stored),
      plan: (document: PlannedDocument) => write.plan(document),
    };
    return new BatchWrite(this.parts, rules, request).run();
  }

  /** Deletes; NotFound if there is nothing, InUse if other resources need it. */
  delete(request: DeleteRequest): Promise<DeleteOutcome> {
    return tracedRequest(this.parts, 'delete', request, (traced) => this.deleteOne(traced));
  }

  private async deleteOne(request: DeleteRequest): Promise<DeleteOutcome> {
    const address = this.inMesh(request.address);
    await this.authorise(address, request, DELETE);
    return untilWritten(async (tries) => {
      const isFirst = tries === 0 && request.dryRun !== true;
      const known = isFirst ? this.parts.index.get(this.identityAt(address, request, DELETE)) : undefined;
      return known
        ? this.deleteKnown(known, request)
        : deleteOnce(this.parts, await this.find(address, request, DELETE), request);
    });
  }

  /** Deletes a resource in the state of the index, which saves a read. A refusal is undefined: the primary decides it. */
  private async deleteKnown(known: Resource, request: DeleteRequest): Promise<DeleteOutcome | undefined> {
    try {
      checkMadeHere(known, this.parts.controlPlane);
      return await deleteOnce(this.parts, known, request);
    } catch (error) {
      if (error instanceof DomainError && !(error instanceof Unavailable)) return undefined;
      throw error;
    }
  }

  /** Returns the identity of a document's resource; undefined if the document does not name it. */
  findIdentity(body: unknown): Identity | undefined {
    try {
      const { draft } = assignMesh(decodeDocument(this.parts.registry, body, {}), this.parts, this.parts.meshes);
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
    access.authorise(context.caller, PUT_VERBS, draftIdentity(draft, ownZone(controlPlane)), draft.kind);
  }

  /** Returns the identity of an address. A wire name is resolved only if the caller may write its resource. */
  private identityAt(address: WriteAddress, { context }: WriteOptions, verbs: readonly Verb[]): Identity {
    const { access, controlPlane, index } = this.parts;
    const named = identityNamed(address, controlPlane);
    const wired = index.get(named) ? undefined : resolveWireName(index, address);
    return wired && access.may(context.caller, verbs, wired.id) ? wired.id : named;
  }

  private hasMesh(mesh: string): Promise<boolean> {
    return meshExists(mesh, this.parts.store, this.parts.meshes);
  }

  /** An address without a mesh means the expected mesh (row T000-14). */
  private inMesh(address: WriteAddress): WriteAddress {
    const { expectedName } = this.parts.meshes.owner;
    return address.kind.scope === 'mesh' ? { ...address, mesh: address.mesh ?? expectedName } : address;
  }

  /** Returns the parts of the address that the document must repeat. A wire name is replaced by the plain name. */
  private resolveTarget(address: WriteAddress | undefined, options: WriteOptions): WriteTarget {
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

  /**
   * Writes a document that names no mesh. Its mesh is decided, checked and planned from one state of the index, which
   * is not older than the request.
   */
  private async putPlaced(
    decoded: DecodedDocument,
    write: SingleWrite,
    request: PutRequest,
  ): Promise<WriteOutcome | undefined> {
    const { store, index, clock, controlPlane, meshes } = this.parts;
    await catchUp(store, index, clock);
    const document = assignMesh(decoded, this.parts, meshes);
    if (!request.address) this.authoriseDraft(document, request);
    const draft = validateDraft(document, controlPlane, configuredFields(meshes.owner));
    throwIfInvalid(draft.violations);
    return write.over(index.get(draft.id), document, draft);
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
}

function targetAt(resource: Resource, address: WriteAddress): WriteTarget {
  const { id } = resource;
  return {
    kind: address.kind,
    ...(address.kind.scope === 'mesh' ? { mesh: id.mesh } : {}),
    ...(address.kind.namespaced ? { namespace: id.namespace } : {}),
    name: id.name,
  };
}
