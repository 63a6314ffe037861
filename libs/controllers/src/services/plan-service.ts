import {
  compareText,
  computedLabels,
  conditionOf,
  isComputedLabel,
  isJsonArray,
  isLabelKey,
  isLabelValue,
  jsonEqual,
  Label,
  withCondition,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Labels,
  type Resource,
} from '@causeway/resources';
import { MeshService } from '@causeway/kinds';
import type { Change, PutChange } from '@causeway/store';
import { countProxies, stateOf } from '../availability/plan-availability';
import type { DataplaneResource } from '../matching/dataplane-selector';
import type { GeneratedSpec } from './service-candidates';

/** Who made a MeshService, in its label `kuma.io/managed-by`; one without it was written by hand. */
export const GENERATOR = 'meshservice-generator';

/** Says whether the Dataplanes of a generated service agree on what it is. */
export const DATAPLANES_AGREE = 'DataplanesAgree';

/** One Dataplane of a service, and the service as this one would have it. */
export interface BackingDataplane {
  readonly dataplane: DataplaneResource;
  readonly spec: GeneratedSpec;
}

/** Everything that decides what becomes of one generated service. */
export interface ServiceInputs {
  readonly id: Identity;
  readonly existing: Resource | undefined;
  /** In the order of their creation. */
  readonly backings: readonly BackingDataplane[];
  readonly cp: ControlPlane;
  readonly now: number;
  /** ms */
  readonly gracePeriod: number;
}

/** What to write, or when to look again. */
export interface ServiceDecision {
  readonly change?: Change;
  readonly dueAt?: number;
}

/** True for the MeshServices that the generator may change: made here, and marked as its own. */
export function isGenerated(resource: Resource): boolean {
  return resource.labels[Label.managedBy] === GENERATOR;
}

/**
 * What becomes of one service (design.md §4 services). Hand-written ones are never touched. An update keeps status,
 * state and labels that users added. The first of several differences is decided; the next plan finds the rest.
 */
export function planService(subject: ServiceInputs): ServiceDecision {
  const { existing, backings } = subject;
  if (existing && !isGenerated(existing)) return {};
  const [oldest] = backings;
  if (oldest) return planBacked(subject, oldest);
  return existing ? planAbandoned(subject, existing) : {};
}

/** Without Dataplanes a service is kept for a while: its address and names outlast a restart of its workload. */
function planAbandoned(
  { now, gracePeriod }: ServiceInputs,
  { id, revision, graceStartedAt }: Resource,
): ServiceDecision {
  if (graceStartedAt === undefined) {
    return { change: { type: 'patch', id, expect: revision, graceStartedAt: now }, dueAt: now + gracePeriod };
  }
  const dueAt = graceStartedAt + gracePeriod;
  return now < dueAt ? { dueAt } : { change: { type: 'delete', id, expect: revision } };
}

function planBacked(subject: ServiceInputs, oldest: BackingDataplane): ServiceDecision {
  const { id, existing, backings } = subject;
  const held = existing && backings.find(({ spec: shape }) => sameShape(shape, existing.spec));
  const { spec: shape } = held ?? oldest;
  const carried = carriedLabels(backings.map(({ dataplane }) => dataplane));
  const labels = labelsOf(subject, carried);
  const status = statusOf(subject, shape, Object.keys(carried));
  if (!existing) return { change: { ...created(shape, backings, status), id, labels } };
  const { revision: expect } = existing;
  if (existing.graceStartedAt !== undefined) return { change: { type: 'patch', id, expect, graceStartedAt: null } };
  const spec = { ...existing.spec, ...shape };
  const changed = status && !jsonEqual(status, existing.status) ? { status } : {};
  if (!held || !jsonEqual(labels, existing.labels))
    return { change: { type: 'put', id, expect, labels, spec, ...changed } };
  return changed.status ? { change: { type: 'patch', id, expect, ...changed } } : {};
}

/**
 * A new service is complete at once: other zones hear of it once, not first of one that nobody serves. From then on
 * its Dataplanes are counted by `AvailabilityReconciler`.
 */
function created(
  shape: GeneratedSpec,
  backings: readonly BackingDataplane[],
  status: JsonObject | undefined,
): Omit<PutChange, 'id' | 'labels'> {
  const dataplaneProxies = countProxies(
    shape.ports,
    backings.map(({ dataplane }) => dataplane),
  );
  const spec = { ...shape, state: stateOf(dataplaneProxies) };
  return { type: 'put', expect: 'absent', spec, status: { ...status, dataplaneProxies } };
}

function sameShape(shape: GeneratedSpec, spec: JsonObject): boolean {
  return jsonEqual(shape.selector, spec['selector']) && jsonEqual(shape.ports, spec['ports']);
}

/** Computed labels, what the Dataplanes carry, and what a user added to the service. */
function labelsOf({ id, existing, cp }: ServiceInputs, carried: Labels): Labels {
  const before = new Set(carriedBefore(existing));
  const kept = Object.entries(existing?.labels ?? {}).filter(
    ([key]) => !isComputedLabel(key) && key !== Label.managedBy && !before.has(key),
  );
  return {
    ...Object.fromEntries(kept),
    ...carried,
    ...computedLabels(MeshService, id, cp),
    [Label.managedBy]: GENERATOR,
  };
}

/** Which labels came from Dataplanes: without it nobody could tell them from those a user added. */
function carriedBefore(existing: Resource | undefined): readonly unknown[] {
  const keys = existing?.status?.['carriedLabels'];
  return isJsonArray(keys) ? keys : [];
}

/** The status as it shall be; undefined where there is nothing to say of a service that has none yet. */
function statusOf(subject: ServiceInputs, shape: GeneratedSpec, carried: readonly string[]): JsonObject | undefined {
  const { existing } = subject;
  const before = existing?.status;
  const keys = [...carried].sort(compareText);
  const withKeys = jsonEqual(before?.['carriedLabels'] ?? [], keys) ? before : { ...before, carriedLabels: keys };
  const losers = subject.backings.filter((backing) => !sameShape(backing.spec, { ...shape }));
  if (losers.length === 0 && !conditionOf(before, DATAPLANES_AGREE)) return withKeys;
  return withCondition(withKeys ?? {}, agreement(existing?.generation ?? 1, losers), subject.now);
}

function agreement(
  observedGeneration: number,
  losers: readonly BackingDataplane[],
): Parameters<typeof withCondition>[1] {
  const type = DATAPLANES_AGREE;
  if (losers.length === 0) return { type, status: 'True', reason: 'Agreed', message: '', observedGeneration };
  const names = losers.slice(0, 5).map(({ dataplane }) => dataplane.id.name);
  const more = losers.length > names.length ? ` and ${losers.length - names.length} more` : '';
  const message = `ports of Dataplane ${names.join(', ')}${more} differ: all inbounds of one service must have the same ports, names and protocols`;
  return { type, status: 'False', reason: 'PortConflict', message, observedGeneration };
}

/** What of a Dataplane counts for the labels of its service. */
export interface LabelSource {
  readonly labels: Labels;
  readonly creationOrder: number;
}

interface Vote {
  readonly value: string;
  readonly count: number;
  readonly newest: number;
}

const RESERVED = ['kuma.io/', 'k8s.kuma.io/'];

/**
 * The labels that a generated service takes over from its Dataplanes (design.md §4 services): of each key the value
 * that most carry, then the one the newest Dataplane carries, then the smallest. Keys of the control plane
 * (`kuma.io/…`) and what is no label are left out.
 */
export function carriedLabels(sources: readonly LabelSource[]): Labels {
  const votes = new Map<string, Map<string, Vote>>();
  for (const { labels, creationOrder } of sources) {
    for (const [key, value] of Object.entries(labels)) {
      if (!isCarried(key, value)) continue;
      const values = votes.get(key) ?? new Map<string, Vote>();
      const { count = 0, newest = 0 } = values.get(value) ?? {};
      votes.set(key, values.set(value, { value, count: count + 1, newest: Math.max(newest, creationOrder) }));
    }
  }
  return Object.fromEntries([...votes].map(([key, values]) => [key, winnerOf([...values.values()])]));
}

function isCarried(key: string, value: string): boolean {
  return !RESERVED.some((prefix) => key.startsWith(prefix)) && isLabelKey(key) && isLabelValue(value);
}

function winnerOf(votes: readonly Vote[]): string {
  const [best] = [...votes].sort((a, b) => b.count - a.count || b.newest - a.newest || compareText(a.value, b.value));
  return best?.value ?? '';
}
