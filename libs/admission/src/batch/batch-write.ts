import { MetaresourceDefinition } from '@causeway/kinds';
import { PendingKinds, PendingMeshes, type MeshMembership } from '@causeway/meshes';
import {
  Conflict,
  FieldPath,
  identityKey,
  Invalid,
  ownZone,
  Unavailable,
  type Identity,
  type Kind,
  type Registry,
  type Resource,
} from '@causeway/resources';
import { inTimedSlices } from '@causeway/runtime';
import { RefusedWrite, type Change, type ChangeResult, type WriteRequest } from '@causeway/store';
import type { AdmissionParts } from '../admission-parts';
import { withQualified } from '../definition-rules';
import { decodeDocument } from '../document/decode-document';
import { draftIdentity, type DecodedDocument } from '../document/document';
import { throwIfInvalid } from '../document/document-report';
import { catchUp, configuredFields, membershipRead, assignMesh } from '../mesh-rules';
import { formatEtag, type WriteOutcome } from '../requests';
import { readAuditSource } from '../rights';
import { tracedWrite } from '../traced-write';
import { validateDraft, type ValidatedDraft } from '../validate-draft';
import { Unparsable } from '@causeway/yaml';
import { MAX_BATCH, type BatchOutcome, type BatchRequest } from './batch';
import { BatchResults } from './batch-results';
import { documentDiff } from './document-diff';

/** The rules of Admission that a batch shares with a single write; both throw DomainErrors. */
export interface WriteRules {
  /** Checks the caller's right to write the document. */
  readonly authorise: (decoded: DecodedDocument) => void;
  /** Reads data for the messages of refusals of `plan` over these resources. */
  readonly prepare: (stored: Iterable<Resource | undefined>) => Promise<void>;
  /** Returns the outcome of a write over `stored`. */
  readonly plan: (document: PlannedDocument) => WriteOutcome;
}

/** A document that passed all its own checks, with its environment. */
export interface PlannedDocument {
  readonly draft: ValidatedDraft;
  readonly kind: Kind;
  readonly stored: Resource | undefined;
  /** The Meshes and kinds after the earlier documents of the batch. */
  readonly meshes: MeshMembership;
  readonly registry: Registry;
  /** Whether the document itself names its mesh. */
  readonly meshInBody: boolean;
}

/** A decoded document; perhaps its mesh is still unknown. */
interface DecodedEntry {
  readonly index: number;
  readonly decoded: DecodedDocument;
}

/** A document and the outcome of writing it. */
interface PlannedEntry extends DecodedEntry {
  readonly outcome: WriteOutcome;
  readonly stored: Resource | undefined;
}

/** Maximum number of tries against concurrent writes, as for a single write. */
const MAX_ATTEMPTS = 4;

/** Processes one batch from documents to results (docs/design.md §6 Batches). Used once. */
export class BatchWrite {
  private readonly results: BatchResults;
  /** By index of the document; for a document without a mesh, the identity that it would get. */
  private readonly ids = new Map<number, Identity>();
  private readonly kinds: PendingKinds;
  private checked = 0;
  private written = 0;
  private revision = 0;

  constructor(
    private readonly parts: AdmissionParts,
    private readonly rules: WriteRules,
    private readonly request: BatchRequest,
  ) {
    this.results = new BatchResults(request.documents);
    this.kinds = new PendingKinds(parts.registry, parts.index);
  }

  /** Throws Invalid for a batch that is too long, Unavailable if nothing is written, and the signal's reason. */
  async run(): Promise<BatchOutcome> {
    const { length } = this.request.documents;
    if (length > MAX_BATCH)
      throw new Invalid([
        FieldPath.at().violation(`a batch has at most ${MAX_BATCH} documents, this one has ${length}`, 'too-many'),
      ]);
    await this.catchUp();
    const decoded: DecodedEntry[] = [];
    await this.sliced(this.decode(decoded));
    // A document without a mesh gets one when it is planned.
    const formatKey = ({ index, decoded: { namesMesh } }: DecodedEntry): string =>
      identityKey(namesMesh ? this.getId(index) : { ...this.getId(index), mesh: '' });
    const once = this.refuseRepeated(decoded, formatKey);
    this.checked = length - once.length;
    await this.writeAll(once);
    return { results: this.results.list(), revision: this.revision };
  }

  /** Afterwards the index is as new as the batch, so that no document needs a read of its own. */
  private async catchUp(): Promise<void> {
    const { store, index, clock } = this.parts;
    this.revision = await catchUp(store, index, clock);
  }

  private *decode(into: DecodedEntry[]): Generator<void> {
    for (const index of this.request.documents.keys()) {
      this.results.runOrRefuse(
        index,
        () => undefined,
        () => {
          const decoded = this.decoded(index);
          this.ids.set(index, draftIdentity(decoded.draft, ownZone(this.parts.controlPlane)));
          into.push({ index, decoded });
          if (decoded.draft.kind === MetaresourceDefinition) this.expectKind(decoded);
        },
      );
      yield;
    }
  }

  /** Decodes a document with the kinds that the earlier ones define. */
  private decoded(index: number): DecodedDocument {
    const { mesh, documents } = this.request;
    const body = documents[index]?.body;
    if (body instanceof Unparsable) throw body;
    return decodeDocument(this.kinds.registry, body, mesh === undefined ? {} : { meshIfAbsent: mesh });
  }

  /** Makes a valid definition available to decode later documents; planning decides whether it may be written. */
  private expectKind(decoded: DecodedDocument): void {
    const draft = validateDraft(decoded, this.parts.controlPlane);
    if (draft.violations.total > 0) return;
    const stored = this.parts.index.get(draft.id);
    this.kinds.take(withQualified(draft, stored, this.kinds.registry));
  }

  /** Refuses all documents of one resource if there are several: it is unclear which one is wanted. */
  private refuseRepeated<Entry extends DecodedEntry>(
    entries: readonly Entry[],
    keyOf: (entry: Entry) => string,
  ): readonly Entry[] {
    const places = new Map<string, number[]>();
    for (const entry of entries) {
      const key = keyOf(entry);
      const known = places.get(key);
      if (known) known.push(entry.index);
      else places.set(key, [entry.index]);
    }
    return entries.filter((entry) => {
      const { index } = entry;
      const id = this.getId(index);
      const [first = index, second = index] = places.get(keyOf(entry)) ?? [];
      if (first === second) return true;
      const other = index === first ? second : first;
      const [before, after] = [Math.min(index, other), Math.max(index, other)].map((at) =>
        this.results.formatPosition(at),
      );
      const reason = `${id.kind} ${id.name} stands in the batch twice, at ${before} and at ${after}; leave one of them out`;
      this.results.refuse(index, id, new Invalid([FieldPath.at('name').violation(reason, 'not-unique')]), other);
      return false;
    });
  }

  /**
   * Plans and writes until no concurrent write intervenes. Durable results are reported even if the store becomes
   * unavailable.
   */
  private async writeAll(entries: readonly DecodedEntry[]): Promise<void> {
    let raced = entries;
    try {
      for (let tries = 0; raced.length > 0 && tries < MAX_ATTEMPTS; tries++) {
        if (tries > 0) await this.catchUp();
        raced = await this.attempt(this.request.atomic === true ? entries : raced, tries === 0);
      }
    } catch (error) {
      if (!(error instanceof Unavailable) || this.written === 0) throw error;
      const cause = new Unavailable(`${error.message}; it may or may not be written: apply it again`, { cause: error });
      for (const { index } of entries)
        if (!this.results.has(index)) this.results.refuse(index, this.getId(index), cause);
    }
    const message = 'somebody else wrote it at the same time; read it again and retry';
    for (const { index } of raced)
      if (!this.results.has(index)) this.results.refuse(index, this.getId(index), new Conflict(message));
    for (const { index } of entries) if (!this.results.has(index)) this.results.skipped(index, this.getId(index));
  }

  /** Writes the planned entries; returns those that met concurrent writes. */
  private async attempt(entries: readonly DecodedEntry[], isFirst: boolean): Promise<readonly DecodedEntry[]> {
    const all: PlannedEntry[] = [];
    // A change while the documents are planned in slices makes all plans stale.
    const read = this.parts.index.point?.revision ?? 0;
    await this.rules.prepare(entries.map(({ index }) => this.parts.index.get(this.getId(index))));
    await this.sliced(this.plan(entries, all, isFirst));
    const planned = this.refuseRepeated(all, ({ index }) => identityKey(this.getId(index)));
    if (this.request.dryRun === true) {
      await this.sliced(this.compare(planned));
      return [];
    }
    if (this.request.atomic === true && this.results.hasRefused) return [];
    const changed = planned.filter(({ outcome }) => outcome.outcome !== 'unchanged');
    const raced = await this.write(changed, read);
    if (this.request.atomic === true && raced.length > 0) return raced;
    for (const { index, outcome } of planned) if (outcome.outcome === 'unchanged') this.results.applied(index, outcome);
    return raced;
  }

  /** Plans in the order of the documents: a Mesh, the labels of a Namespace, and a definition apply to later documents. */
  private *plan(entries: readonly DecodedEntry[], into: PlannedEntry[], isFirst: boolean): Generator<void> {
    const meshes = new PendingMeshes(this.parts.meshes);
    this.kinds.reset();
    for (const { index, decoded } of entries) {
      this.results.runOrRefuse(
        index,
        () => this.getId(index),
        () => {
          const entry = this.planned({ index, decoded }, meshes);
          meshes.take(entry.outcome);
          this.kinds.take(entry.outcome);
          into.push(entry);
        },
      );
      if (isFirst) this.checked += 1;
      yield;
    }
  }

  private planned({ index, decoded: before }: DecodedEntry, meshes: PendingMeshes): PlannedEntry {
    const { registry } = this.kinds;
    const isCurrent = registry.kind(before.draft.kind.name) === before.draft.kind;
    // Its definition was refused, or has changed.
    const decoded = isCurrent ? before : this.decoded(index);
    const document = assignMesh(decoded, this.parts, meshes);
    this.ids.set(index, draftIdentity(document.draft, ownZone(this.parts.controlPlane)));
    const draft = this.validated(document, meshes);
    const stored = this.parts.index.get(draft.id);
    const { kind } = document.draft;
    return {
      index,
      decoded,
      outcome: this.rules.plan({ draft, kind, stored, meshes, registry, meshInBody: decoded.meshInBody }),
      stored,
    };
  }

  private validated(decoded: DecodedDocument, meshes: MeshMembership): ValidatedDraft {
    this.rules.authorise(decoded);
    const { controlPlane, meshes: known } = this.parts;
    const draft = validateDraft(decoded, controlPlane, configuredFields(known.owner));
    const { kind, mesh } = decoded.draft;
    if (kind.scope === 'mesh' && !meshes.state(mesh))
      draft.violations.add(FieldPath.at('mesh'), 'invalid', () => `there is no mesh "${mesh}"`);
    throwIfInvalid(draft.violations);
    return draft;
  }

  private getId(index: number): Identity {
    const id = this.ids.get(index);
    if (!id) throw new Error(`document ${index} of a batch has no identity`);
    return id;
  }

  private *compare(planned: readonly PlannedEntry[]): Generator<void> {
    for (const { index, outcome, decoded, stored } of planned) {
      const isChange = outcome.outcome !== 'unchanged';
      this.results.applied(index, outcome, isChange ? { diff: documentDiff(decoded.draft.kind, stored, outcome) } : {});
      yield;
    }
  }

  private async write(changed: readonly PlannedEntry[], read: number): Promise<readonly DecodedEntry[]> {
    if (changed.length === 0) return [];
    const audit = readAuditSource(this.request);
    const changes = changed.map(({ outcome: { id, labels, spec }, stored }): Change => {
      return { type: 'put', id, expect: stored?.revision ?? 'absent', labels, spec, audit };
    });
    if (this.written === 0) this.request.signal?.throwIfAborted();
    const isAtomic = this.request.atomic === true;
    const made = changed.flatMap(({ stored, decoded }) => (stored ? [] : [decoded.draft.kind]));
    const request = { changes, onRefusal: isAtomic ? 'abort' : 'skip', ...membershipRead(made, read) } as const;
    return isAtomic ? this.writeTogether(changed, request) : this.writeEach(changed, request);
  }

  private async writeTogether(
    changed: readonly PlannedEntry[],
    request: WriteRequest,
  ): Promise<readonly DecodedEntry[]> {
    try {
      const { revision, results } = await tracedWrite(this.parts, this.request.context, request);
      this.revision = revision;
      return this.take(changed, results);
    } catch (error) {
      if (!(error instanceof RefusedWrite)) throw error;
      return error.refused.flatMap(({ at, ...refused }) => {
        const entry = changed[at];
        return entry && !this.refusedForGood(entry, { type: 'refused', ...refused }) ? [entry] : [];
      });
    }
  }

  private async writeEach(changed: readonly PlannedEntry[], request: WriteRequest): Promise<readonly DecodedEntry[]> {
    const raced: DecodedEntry[] = [];
    let durable = 0;
    const takePart = (results: readonly ChangeResult[]): void => {
      raced.push(...this.take(changed.slice(durable, durable + results.length), results));
      durable += results.length;
    };
    const { revision } = await tracedWrite(this.parts, this.request.context, { ...request, onDurable: takePart });
    this.revision = revision;
    return raced;
  }

  /** Records results of the store; returns the entries that met concurrent writes. */
  private take(changed: readonly PlannedEntry[], results: readonly ChangeResult[]): readonly DecodedEntry[] {
    const raced: DecodedEntry[] = [];
    for (const [i, entry] of changed.entries()) {
      const result = results[i];
      if (!result) throw new Error('the store answered a write with too few results');
      if (result.type === 'refused') {
        if (!this.refusedForGood(entry, result)) raced.push(entry);
        continue;
      }
      this.results.applied(entry.index, { ...entry.outcome, revision: result.revision, etag: formatEtag(result) });
      this.written += 1;
    }
    this.reportProgress();
    return raced;
  }

  /** Records a refusal that a retry would not change. */
  private refusedForGood({ index }: DecodedEntry, result: Extract<ChangeResult, { type: 'refused' }>): boolean {
    if (result.refusal !== 'unstorable') return false;
    this.results.refuse(index, this.getId(index), new Invalid([FieldPath.at().violation(result.detail, 'not-text')]));
    return true;
  }

  /** A batch that has begun to write continues without its client: a half-written batch would be harder to explain. */
  private async sliced(steps: Iterable<unknown>): Promise<void> {
    const signal = this.written === 0 ? this.request.signal : undefined;
    await inTimedSlices(steps, {
      clock: this.parts.clock,
      each: () => this.reportProgress(),
      ...(signal ? { signal } : {}),
    });
  }

  private reportProgress(): void {
    this.request.progress?.({ checked: this.checked, written: this.written });
  }
}
