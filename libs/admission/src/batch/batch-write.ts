import {
  Conflict,
  FieldPath,
  globalIdentity,
  identityKey,
  Invalid,
  ownZone,
  Unavailable,
  type Identity,
  type Resource,
  type Violation,
} from '@causeway/resources';
import { inTimedSlices } from '@causeway/runtime';
import { RefusedWrite, type Change, type ChangeResult } from '@causeway/store';
import type { AdmissionParts } from '../admission-parts';
import { decodeDocument } from '../document/decode-document';
import { draftIdentity, type DecodedDocument } from '../document/document';
import { throwIfInvalid } from '../document/document-report';
import { catchUp, configuredFields } from '../mesh-rules';
import { etagOf, type WriteOutcome } from '../requests';
import { auditOf } from '../rights';
import { validateDraft, type ValidatedDraft } from '../validate-draft';
import { Unparsable } from '../yaml/parse-yaml';
import { MAX_BATCH, type BatchOutcome, type BatchRequest } from './batch';
import { BatchResults } from './batch-results';
import { documentDiff } from './document-diff';

/** The rules of Admission that a batch shares with a single write; both throw DomainErrors. */
export interface WriteRules {
  /** Checks the caller's right to write the document. */
  readonly authorise: (decoded: DecodedDocument) => void;
  /** What a write over `stored` comes to. */
  readonly plan: (decoded: DecodedDocument, draft: ValidatedDraft, stored: Resource | undefined) => WriteOutcome;
}

/** A document whose identity is known. */
interface DecodedEntry {
  readonly index: number;
  readonly decoded: DecodedDocument;
  readonly id: Identity;
}

/** A document that passed every check of its own. */
interface ValidEntry extends DecodedEntry {
  readonly draft: ValidatedDraft;
}

/** A document and what writing it comes to. */
interface PlannedEntry extends ValidEntry {
  readonly outcome: WriteOutcome;
  readonly stored: Resource | undefined;
}

/** Most tries against concurrent writes, as of a single write. */
const TRIES = 4;

/** One batch on its way from documents to results (docs/design.md §6 Batches). Used once. */
export class BatchWrite {
  private readonly results: BatchResults;
  private checked = 0;
  private written = 0;
  private revision = 0;

  constructor(
    private readonly parts: AdmissionParts,
    private readonly rules: WriteRules,
    private readonly request: BatchRequest,
  ) {
    this.results = new BatchResults(request.documents);
  }

  /** Throws Invalid for a batch that is too long, Unavailable where nothing is written, and the signal's reason. */
  async run(): Promise<BatchOutcome> {
    const { length } = this.request.documents;
    if (length > MAX_BATCH)
      throw new Invalid([
        FieldPath.at().violation(`a batch has at most ${MAX_BATCH} documents, this one has ${length}`, 'too-many'),
      ]);
    await this.catchUp();
    const decoded: DecodedEntry[] = [];
    await this.sliced(this.decode(decoded));
    const valid: ValidEntry[] = [];
    await this.sliced(this.validate(this.refuseRepeated(decoded), valid));
    await this.writeAll(valid);
    return { results: this.results.list(), revision: this.revision };
  }

  /** The index is then as new as the batch, so that no document needs a read of its own. */
  private async catchUp(): Promise<void> {
    const { store, index, clock } = this.parts;
    this.revision = await catchUp(store, index, clock);
  }

  private *decode(into: DecodedEntry[]): Generator<void> {
    const { registry, controlPlane } = this.parts;
    const target = this.request.mesh === undefined ? {} : { meshIfAbsent: this.request.mesh };
    for (const [index, { body }] of this.request.documents.entries()) {
      this.results.orRefuse(index, undefined, () => {
        if (body instanceof Unparsable) throw body;
        const decoded = decodeDocument(registry, body, target);
        into.push({ index, decoded, id: draftIdentity(decoded.draft, ownZone(controlPlane)) });
      });
      yield;
    }
  }

  /** Refuses all documents of one resource where there are several: nobody knows which of them is meant. */
  private refuseRepeated(entries: readonly DecodedEntry[]): readonly DecodedEntry[] {
    const places = new Map<string, number[]>();
    for (const { id, index } of entries) {
      const known = places.get(identityKey(id));
      if (known) known.push(index);
      else places.set(identityKey(id), [index]);
    }
    return entries.filter(({ index, id }) => {
      const [first = index, second = index] = places.get(identityKey(id)) ?? [];
      if (first === second) return true;
      const other = index === first ? second : first;
      const [before, after] = [Math.min(index, other), Math.max(index, other)].map((at) => this.results.whereIs(at));
      const reason = `${id.kind} ${id.name} stands in the batch twice, at ${before} and at ${after}; leave one of them out`;
      this.results.refuse(index, id, new Invalid([FieldPath.at('name').violation(reason, 'not-unique')]), other);
      return false;
    });
  }

  /** In the order of the documents: a Mesh counts for the documents behind it. */
  private *validate(entries: readonly DecodedEntry[], into: ValidEntry[]): Generator<void> {
    const made = new Set<string>();
    this.checked = this.request.documents.length - entries.length;
    for (const entry of entries) {
      this.results.orRefuse(entry.index, entry.id, () => {
        const draft = this.validated(entry.decoded, made);
        if (entry.id.kind === 'Mesh') made.add(entry.id.name);
        into.push({ ...entry, draft });
      });
      this.checked += 1;
      yield;
    }
  }

  private validated(decoded: DecodedDocument, made: ReadonlySet<string>): ValidatedDraft {
    this.rules.authorise(decoded);
    const { controlPlane, meshes } = this.parts;
    const draft = validateDraft(decoded, controlPlane, configuredFields(meshes.owner));
    draft.violations.addAll(this.meshViolations(decoded, made));
    throwIfInvalid(draft.violations);
    return draft;
  }

  private meshViolations({ draft: { kind, mesh } }: DecodedDocument, made: ReadonlySet<string>): Violation[] {
    if (kind.scope !== 'mesh' || made.has(mesh) || this.parts.index.get(globalIdentity('Mesh', mesh))) return [];
    return [FieldPath.at('mesh').violation(`there is no mesh "${mesh}"`)];
  }

  /** Plans and writes until no concurrent write comes between. What is durable by then is said even if the store goes away. */
  private async writeAll(valid: readonly ValidEntry[]): Promise<void> {
    let raced: readonly ValidEntry[] = valid;
    try {
      for (let tries = 0; raced.length > 0 && tries < TRIES; tries++) {
        if (tries > 0) await this.catchUp();
        raced = await this.attempt(this.request.atomic === true ? valid : raced);
      }
    } catch (error) {
      if (!(error instanceof Unavailable) || this.written === 0) throw error;
      const cause = new Unavailable(`${error.message}; it may or may not be written: apply it again`, { cause: error });
      for (const { index, id } of valid) if (!this.results.has(index)) this.results.refuse(index, id, cause);
    }
    const message = 'somebody else wrote it at the same time; read it again and retry';
    for (const { index, id } of raced)
      if (!this.results.has(index)) this.results.refuse(index, id, new Conflict(message));
    for (const { index, id } of valid) if (!this.results.has(index)) this.results.skipped(index, id);
  }

  /** Returns the entries that met concurrent writes. */
  private async attempt(entries: readonly ValidEntry[]): Promise<readonly ValidEntry[]> {
    const planned: PlannedEntry[] = [];
    await this.sliced(this.plan(entries, planned));
    if (this.request.dryRun === true) {
      await this.sliced(this.compare(planned));
      return [];
    }
    if (this.request.atomic === true && this.results.hasRefused) return [];
    const changed = planned.filter(({ outcome }) => outcome.outcome !== 'unchanged');
    const raced = await this.write(changed);
    if (this.request.atomic === true && raced.length > 0) return raced;
    for (const { index, outcome } of planned) if (outcome.outcome === 'unchanged') this.results.applied(index, outcome);
    return raced;
  }

  private *plan(entries: readonly ValidEntry[], into: PlannedEntry[]): Generator<void> {
    const made = new Set<string>();
    for (const entry of entries) {
      this.results.orRefuse(entry.index, entry.id, () => {
        const stored = this.parts.index.get(entry.id);
        const outcome = this.rules.plan(entry.decoded, entry.draft, stored);
        // The Mesh may have been refused here, or deleted since the documents were validated.
        const lost = this.meshViolations(entry.decoded, made);
        if (lost.length > 0) throw new Invalid(lost);
        if (entry.id.kind === 'Mesh') made.add(entry.id.name);
        into.push({ ...entry, outcome, stored });
      });
      yield;
    }
  }

  private *compare(planned: readonly PlannedEntry[]): Generator<void> {
    for (const { index, outcome, decoded, stored } of planned) {
      const isChange = outcome.outcome !== 'unchanged';
      this.results.applied(index, outcome, isChange ? { diff: documentDiff(decoded.draft.kind, stored, outcome) } : {});
      yield;
    }
  }

  private async write(changed: readonly PlannedEntry[]): Promise<readonly ValidEntry[]> {
    if (changed.length === 0) return [];
    const audit = auditOf(this.request);
    const changes = changed.map(({ outcome: { id, labels, spec }, stored }): Change => {
      return { type: 'put', id, expect: stored?.revision ?? 'absent', labels, spec, audit };
    });
    if (this.written === 0) this.request.signal?.throwIfAborted();
    return this.request.atomic === true ? this.writeTogether(changed, changes) : this.writeEach(changed, changes);
  }

  private async writeTogether(
    changed: readonly PlannedEntry[],
    changes: readonly Change[],
  ): Promise<readonly ValidEntry[]> {
    try {
      const { revision, results } = await this.parts.store.write({ changes, onRefusal: 'abort' });
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

  private async writeEach(
    changed: readonly PlannedEntry[],
    changes: readonly Change[],
  ): Promise<readonly ValidEntry[]> {
    const raced: ValidEntry[] = [];
    let durable = 0;
    const takePart = (results: readonly ChangeResult[]): void => {
      raced.push(...this.take(changed.slice(durable, durable + results.length), results));
      durable += results.length;
    };
    const { revision } = await this.parts.store.write({ changes, onRefusal: 'skip', onDurable: takePart });
    this.revision = revision;
    return raced;
  }

  /** Records results of the store; returns the entries that met concurrent writes. */
  private take(changed: readonly PlannedEntry[], results: readonly ChangeResult[]): readonly ValidEntry[] {
    const raced: ValidEntry[] = [];
    for (const [i, entry] of changed.entries()) {
      const result = results[i];
      if (!result) throw new Error('the store answered a write with too few results');
      if (result.type === 'refused') {
        if (!this.refusedForGood(entry, result)) raced.push(entry);
        continue;
      }
      this.results.applied(entry.index, { ...entry.outcome, revision: result.revision, etag: etagOf(result) });
      this.written += 1;
    }
    this.tell();
    return raced;
  }

  /** Records a refusal that no further try changes. */
  private refusedForGood({ index, id }: ValidEntry, result: Extract<ChangeResult, { type: 'refused' }>): boolean {
    if (result.refusal !== 'unstorable') return false;
    this.results.refuse(index, id, new Invalid([FieldPath.at().violation(result.detail, 'not-text')]));
    return true;
  }

  /** A batch that has begun to write goes on without its client: half of it would be harder to explain. */
  private async sliced(steps: Iterable<unknown>): Promise<void> {
    const signal = this.written === 0 ? this.request.signal : undefined;
    await inTimedSlices(steps, { clock: this.parts.clock, each: () => this.tell(), ...(signal ? { signal } : {}) });
  }

  private tell(): void {
    this.request.progress?.({ checked: this.checked, written: this.written });
  }
}
