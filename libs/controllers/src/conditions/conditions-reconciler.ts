import {
  compareText,
  globalIdentity,
  identityKey,
  jsonEqual,
  type ControlPlane,
  type Identity,
  type Registry,
  type Resource,
} from '@causeway/resources';
import { SlicedWork } from '@causeway/runtime';
import type { Change, IndexChange, IndexEvent, IndexReader } from '@causeway/store';
import { lostStateOf, type LostState } from '@causeway/sync';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { planBatch, WorkQueue } from '../reconcile/work-queue';
import { planConditions, type ConditionInputs } from './plan-conditions';

/** Changes in one plan. */
const BATCH = 500;

/** What the conditions loop needs to know. */
export interface ConditionsConfig {
  readonly cp: ControlPlane;
  readonly registry: Registry;
  /** Why Kuma zones cannot be told of a resource; given on the global. */
  readonly unsupportedByKuma?: ConditionInputs['unsupportedByKuma'];
}

/**
 * Says on each resource what sync knows of it: its zone is lost, its Mesh is missing, it breaks a rule that is tolerated,
 * Kuma cannot be told of it (docs/reference/sync.md Conditions). A change of a Zone or Mesh costs one write for each resource that it concerns;
 * what has nothing to say is never written.
 */
export class ConditionsReconciler implements ControlLoop {
  readonly name = 'conditions';
  private readonly stale = new WorkQueue(compareText);
  private readonly inputs: ConditionInputs;
  private readonly gathering = new SlicedWork();
  /** What is being gathered. */
  private wanted: ((id: Identity) => boolean)[] = [];
  private index: IndexReader | undefined;

  constructor(private readonly config: ConditionsConfig) {
    this.inputs = {
      cp: config.cp,
      hasMesh: (mesh) => this.index?.get(globalId('Mesh', mesh)) !== undefined,
      lostState: (zone) => this.lostState(zone),
      unsupportedByKuma: config.unsupportedByKuma ?? (() => undefined),
    };
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.stale.clear();
    this.wanted = [];
    this.markAll(() => true);
  }

  observe(event: IndexEvent): void {
    for (const change of event.changes) {
      this.observeOwner(change);
      if (!isSaidOf(change)) this.stale.add(change.key);
    }
  }

  plan(now: number): LoopPlan {
    if (!this.gathering.advance()) return { changes: [], more: true };
    return planBatch(this.stale, { changes: BATCH }, (key) => {
      const resource = this.index?.byIdentityKey(key);
      const kind = resource && this.config.registry.kind(resource.id.kind);
      return kind && planConditions(resource, kind, this.inputs, now);
    });
  }

  /**
   * What was written is looked at again: a message of the zone may have put back the status as it was before the index
   * showed ours, and an index that never held a condition does not show that it went.
   */
  onWritten(changes: readonly Change[]): void {
    for (const { id } of changes) this.stale.add(identityKey(id));
  }

  /** What belongs to a Mesh that came or went, or to a Zone that was lost or is back, is looked at again. */
  private observeOwner({ id, before, after }: IndexChange): void {
    if (id.kind === 'Mesh' && (before === undefined || after === undefined)) {
      this.markAll((member) => member.mesh === id.name);
    }
    if (id.kind === 'Zone' && !sameLoss(before, after)) this.markAll((copy) => copy.zone === id.name);
  }

  private markAll(concerns: (id: Identity) => boolean): void {
    this.wanted.push(concerns);
    this.gathering.begin(this.gather());
  }

  /** One row a step; begun anew it looks for what was wanted before as well. */
  private *gather(): Generator<unknown> {
    for (const { name } of this.config.registry.kinds) {
      for (const { id } of this.index?.ofKind(name) ?? []) {
        if (this.wanted.some((concerns) => concerns(id))) this.stale.add(identityKey(id));
        yield;
      }
    }
    this.wanted = [];
  }

  private lostState(zone: string): LostState | undefined {
    const found = this.index?.get(globalId('Zone', zone));
    return found && lostStateOf(found);
  }
}

/** A change that moved neither what conditions are derived from nor the conditions: most writes of other loops. */
function isSaidOf({ before, after }: IndexChange): boolean {
  if (!before || !after) return after === undefined;
  return (
    before.generation === after.generation &&
    jsonEqual(before.spec, after.spec) &&
    jsonEqual(before.labels, after.labels) &&
    jsonEqual(before.status?.['conditions'], after.status?.['conditions'])
  );
}

function sameLoss(before: Resource | undefined, after: Resource | undefined): boolean {
  const [was, is] = [before, after].map((zone) => zone && lostStateOf(zone));
  return was?.policy === is?.policy && was?.since === is?.since;
}

function globalId(kind: string, name: string): Identity {
  return globalIdentity(kind, name);
}
