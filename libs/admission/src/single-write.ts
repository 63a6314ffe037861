import type { Verb } from '@causeway/access';
import { Mesh, MetaresourceDefinition } from '@causeway/kinds';
import { isTerminating } from '@causeway/meshes';
import { Conflict, FieldPath, Invalid, Label, type Resource } from '@causeway/resources';
import type { Change, WriteRequest } from '@causeway/store';
import type { AdmissionParts } from './admission-parts';
import type { PlannedDocument } from './batch/batch-write';
import type { DecodedDocument } from './document/document';
import {
  checkNotShipped,
  checkOwnGroup,
  checkStillDeclared,
  definitionWarnings,
  describeInstances,
  kindOfDefinition,
  withQualified,
} from './definition-rules';
import { checkNotNamed, HostnameWarnings } from './app-mesh-rules';
import { checkNotClaimed, checkNotGenerated } from './generated-rules';
import { TakenNames } from './aws-names';
import { LeasedDataplanes } from './leased-dataplanes';
import { catchUp, checkNewMember, describeMembers, InUse, membershipRead } from './mesh-rules';
import { checkZoneDeletion } from './online-zones';
import { checkServiceAddresses } from './service-addresses';
import { RequestNodes } from './node-selectors';
import { planWrite } from './plan-write';
import {
  checkPrecondition,
  formatEtag,
  type DeleteOutcome,
  type DeleteRequest,
  type WriteOptions,
  type WriteOutcome,
} from './requests';
import { readAuditSource, checkMadeHere, checkMayReachMesh } from './rights';
import { namesSecrets, RequestSecrets, withStoredUsers } from './secret-uses';
import { tracedWrite } from './traced-write';
import type { ValidatedDraft } from './validate-draft';

/** Maximum number of tries of one request against concurrent writes; each try checks If-Match against what it read. */
const MAX_ATTEMPTS = 4;

const CREATE: readonly Verb[] = ['create'];
const UPDATE: readonly Verb[] = ['update'];

/** Runs `attempt` until it succeeds: a controller may write the status between its read and its write. Throws Conflict if it never does. */
export async function untilWritten<T>(attempt: (tries: number) => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < MAX_ATTEMPTS; i++) {
    const result = await attempt(i);
    if (result !== undefined) return result;
  }
  throw new Conflict('somebody else wrote it at the same time; read it again and retry');
}

/**
 * One attempt to store a document that passed its own checks: the write is planned over the stored resource, and done
 * if that is unchanged. Each method returns undefined if a concurrent write came first, and throws the refusals of the
 * plan.
 */
export class SingleWrite {
  /** App Mesh names, nodes and Secrets for this request. */
  private readonly names: TakenNames;
  private readonly nodes: RequestNodes;
  private readonly leased: LeasedDataplanes;
  private readonly hostnames: HostnameWarnings;
  private readonly secrets: RequestSecrets;

  constructor(
    private readonly parts: AdmissionParts,
    private readonly options: WriteOptions,
  ) {
    this.names = new TakenNames(parts.index);
    this.nodes = new RequestNodes(parts.index);
    this.leased = new LeasedDataplanes(parts.leases, options.context);
    this.hostnames = new HostnameWarnings(parts.index, parts.controlPlane);
    this.secrets = new RequestSecrets(parts);
  }

  /** Reads data for the messages of refusals of `plan` over these resources. */
  prepare(stored: Iterable<Resource | undefined>): Promise<void> {
    return this.leased.read(stored);
  }

  /**
   * Writes from the state of the index, which saves a read: the write fails if that is not the newest state. For a
   * refusal or an unchanged document it returns undefined; the next attempt decides from the primary.
   */
  async byIndex(document: DecodedDocument, draft: ValidatedDraft): Promise<WriteOutcome | undefined> {
    const { index, meshes, registry } = this.parts;
    const { meshInBody } = document;
    const { kind } = document.draft;
    const stored = index.get(draft.id);
    // Only the store knows a name that was assigned a moment ago.
    if (!stored && kind.meshFrom === 'namespace') return undefined;
    try {
      if (this.plan({ draft, kind, stored, meshes, registry, meshInBody }).outcome === 'unchanged') return undefined;
    } catch {
      return undefined;
    }
    return this.over(stored, document, draft);
  }

  /** Writes from the state of the primary, or from `read`, which came from it. */
  async byStore(document: DecodedDocument, draft: ValidatedDraft, read?: Resource): Promise<WriteOutcome | undefined> {
    const { store, index, clock } = this.parts;
    const stored = read ?? (await store.get(draft.id));
    if ((!stored && document.draft.kind.scope === 'mesh') || namesSecrets(draft)) await catchUp(store, index, clock);
    return this.over(stored, document, draft);
  }

  /** Writes over `stored`, and for a new member of a mesh by the current Meshes of the index. */
  async over(
    stored: Resource | undefined,
    { draft: { kind }, meshInBody }: DecodedDocument,
    draft: ValidatedDraft,
  ): Promise<WriteOutcome | undefined> {
    const { index, meshes, registry } = this.parts;
    await this.prepare([stored]);
    const planned = this.plan({ draft, kind, stored, meshes, registry, meshInBody });
    if (planned.outcome === 'unchanged' || this.options.dryRun === true) return planned;
    const { id, labels, spec } = planned;
    const written = await writeOne(
      this.parts,
      this.options,
      { type: 'put', id, expect: stored?.revision ?? 'absent', labels, spec, audit: readAuditSource(this.options) },
      membershipRead(stored ? [] : [kind], index.point?.revision),
    );
    return written && { ...planned, revision: written.revision, etag: formatEtag(written) };
  }

  /** Returns the outcome of a write over `stored`; throws if it is not allowed. */
  plan({ draft: given, kind, stored, meshes, registry, meshInBody }: PlannedDocument): WriteOutcome {
    const { access, controlPlane, index } = this.parts;
    const draft = withQualified(given, stored, registry);
    const { context, ifMatch } = this.options;
    access.authorise(context.caller, stored ? UPDATE : CREATE, draft.id, kind);
    checkMayReachMesh(kind, draft.id, [stored?.spec, draft.spec], { access, caller: context.caller });
    checkPrecondition(ifMatch, stored);
    checkNotShipped(stored);
    checkNotGenerated(stored);
    checkNotClaimed(draft);
    checkServiceAddresses(draft, stored, context);
    checkNotNamed(draft);
    checkOwnGroup(draft);
    checkStillDeclared(kind, registry);
    if (stored) checkMadeHere(stored, controlPlane);
    else checkNewMember(kind, draft.id, meshes, meshInBody);
    this.nodes.checkMembership(draft, stored);
    const uses = this.secrets.check(draft, stored, context);
    const wanted = this.leased.withLabel(withStoredUsers(kind, draft, stored), stored);
    const planned = planWrite(kind, wanted, stored, this.options.serverOwned);
    this.leased.checkSpec(stored, planned.spec);
    this.secrets.take(planned);
    if (!stored) this.names.take(kind, draft.id, draft.spec);
    this.nodes.take(planned);
    const definition = definitionWarnings(draft, stored, { registry, index });
    const warnings = [...planned.warnings, ...uses, ...definition, ...this.hostnames.of(planned)];
    return { ...planned, warnings };
  }
}

/**
 * Makes one attempt to delete a stored resource; undefined if a concurrent write came first. A Mesh is deleted only without members,
 * a definition only without resources of its kind, and only if none were added since they were counted (row T003-28); else InUse.
 */
export async function deleteOnce(
  parts: AdmissionParts,
  stored: Resource,
  request: DeleteRequest,
): Promise<DeleteOutcome | undefined> {
  const { store, registry, index, clock, access } = parts;
  const { id, revision } = stored;
  const kind = registry.kind(id.kind);
  if (kind) checkMayReachMesh(kind, id, [stored.spec], { access, caller: request.context.caller });
  checkPrecondition(request.ifMatch, stored);
  checkNotShipped(stored);
  checkNotGenerated(stored);
  const leased = new LeasedDataplanes(parts.leases, request.context);
  await leased.read([stored]);
  leased.checkDelete(stored);
  const warnings = await checkZoneDeletion(parts, stored, request);
  const isMesh = id.kind === Mesh.name;
  if (isMesh || id.kind === MetaresourceDefinition.name) await catchUp(store, index, clock);
  const declared = kindOfDefinition(stored, registry);
  const instances = declared === undefined ? undefined : describeInstances(declared, index);
  if (instances !== undefined) throw new InUse(instances);
  const members = isMesh ? describeMembers(id.name, registry, index) : undefined;
  if (members !== undefined) return keepMesh(parts, stored, members, request);
  if (request.dryRun === true) return { outcome: 'deleted', id, revision, warnings };
  const audit = readAuditSource(request);
  const counted = isMesh ? { mesh: id.name } : declared !== undefined && { kinds: [declared] };
  const read = counted ? { unchanged: { revision: index.point?.revision ?? 0, ...counted } } : {};
  const written = await writeOne(parts, request, { type: 'delete', id, expect: revision, audit }, read);
  return written && { outcome: 'deleted', id, revision: written.revision, warnings };
}

/** Throws InUse, after marking the Mesh as terminating if the request asks for it; undefined after a concurrent write. */
async function keepMesh(
  parts: AdmissionParts,
  { id, revision, labels, spec }: Resource,
  members: string,
  request: DeleteRequest,
): Promise<undefined> {
  const ends = isTerminating(labels) || (request.terminate === true && request.dryRun !== true);
  if (ends && !isTerminating(labels)) {
    const marked = { ...labels, [Label.terminating]: 'true' };
    const change = {
      type: 'put',
      id,
      expect: revision,
      labels: marked,
      spec,
      audit: readAuditSource(request),
    } as const;
    if (!(await writeOne(parts, request, change))) return undefined;
  }
  throw new InUse(ends ? `${members}; the mesh is being terminated and takes no new members` : members);
}

/** Writes one change. Undefined if a concurrent write came first; any other refusal of the store is thrown. */
async function writeOne(
  parts: AdmissionParts,
  { context }: Pick<WriteOptions, 'context'>,
  change: Change,
  read: Pick<WriteRequest, 'unchanged'> = {},
): Promise<{ readonly revision: number; readonly uid: string; readonly generation: number } | undefined> {
  const { revision, results } = await tracedWrite(parts, context, { changes: [change], onRefusal: 'skip', ...read });
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
