import {
  compareText,
  computedLabels,
  findCondition,
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
import { instancesToReport } from '@causeway/sync';
import { MeshService } from '@causeway/kinds';
import type { PutChange } from '@causeway/store';
import { countProxies, instancesPart, toAvailabilityState } from '../availability/plan-availability';
import { identitiesPart, serviceIdentities } from '../availability/workload-ids';
import type { DataplaneResource } from '@causeway/dataplanes';
import type { ReconcileResult } from '@causeway/loops';
import type { GeneratedSpec } from './service-candidates';

/** The value of the label `kuma.io/managed-by` on generated MeshServices; a service without it was written by a user. */
export const GENERATOR = 'meshservice-generator';

/** The condition that states whether the Dataplanes of a generated service agree on its ports. */
const DATAPLANES_AGREE = 'DataplanesAgree';

/** One Dataplane of a service, and the spec that the service would have with this Dataplane alone. */
export interface BackingDataplane {
  readonly dataplane: DataplaneResource;
  readonly spec: GeneratedSpec;
}

/** The inputs of the plan of one generated service. */
export interface ServiceInputs {
  readonly id: Identity;
  readonly existing: Resource | undefined;
  /** The oldest first. */
  readonly backings: readonly BackingDataplane[];
  /** SPIFFE ids of the Dataplanes, unsorted, possibly with duplicates; read for a new service only. */
  readonly uris?: readonly string[];
  readonly cp: ControlPlane;
  readonly now: number;
  /** ms */
  readonly gracePeriod: number;
}

/** Reports whether a MeshService has the generator's label; the generator changes no other. */
export function isGenerated(resource: Resource): boolean {
  return resource.labels[Label.managedBy] === GENERATOR;
}

/**
 * Plans the change of one service (docs/design.md §4 services). A user's service is never changed. An update keeps status, state and the labels that
 * users added. Of several differences one is written; the next plan finds the others.
 */
export function planService(subject: ServiceInputs): ReconcileResult {
  const { existing, backings } = subject;
  if (existing && !isGenerated(existing)) return {};
  const [oldest] = backings;
  if (oldest) return planBacked(subject, oldest);
  return existing ? planAbandoned(subject, existing) : {};
}

/** Keeps a service without Dataplanes for the grace period: its address and names survive a restart of its workload. */
function planAbandoned(
  { now, gracePeriod }: ServiceInputs,
  { id, revision, graceStartedAt }: Resource,
): ReconcileResult {
  if (graceStartedAt === undefined) {
    return { change: { type: 'patch', id, expect: revision, graceStartedAt: now }, dueAt: now + gracePeriod };
  }
  const dueAt = graceStartedAt + gracePeriod;
  return now < dueAt ? { dueAt } : { change: { type: 'delete', id, expect: revision } };
}

function planBacked(subject: ServiceInputs, oldest: BackingDataplane): ReconcileResult {
  const { id, existing, backings, uris = [] } = subject;
  const agreeing = existing && backings.find((backing) => isSameSpec(backing.spec, existing.spec));
  const { spec: generated } = agreeing ?? oldest;
  const carried = carriedLabels(backings.map(({ dataplane }) => dataplane));
  const labels = computeLabels(subject, carried);
  const status = computeStatus(subject, generated, Object.keys(carried));
  if (!existing) return { change: { ...created(generated, { backings, uris, status }), id, labels } };
  const { revision: expect } = existing;
  if (existing.graceStartedAt !== undefined) return { change: { type: 'patch', id, expect, graceStartedAt: null } };
  const spec = { ...existing.spec, ...generated };
  const changed = status && !jsonEqual(status, existing.status) ? { status } : {};
  if (!agreeing || !jsonEqual(labels, existing.labels))
    return { change: { type: 'put', id, expect, labels, spec, ...changed } };
  return changed.status ? { change: { type: 'patch', id, expect, ...changed } } : {};
}

/**
 * Creates a service with its state, identities and proxy count, so that other zones receive it once and not first as Unavailable. Later
 * `AvailabilityReconciler` writes these.
 */
function created(
  generated: GeneratedSpec,
  {
    backings,
    uris,
    status,
  }: Required<Pick<ServiceInputs, 'backings' | 'uris'>> & { readonly status: JsonObject | undefined },
): Omit<PutChange, 'id' | 'labels'> {
  const dataplaneProxies = countProxies(
    generated.ports,
    backings.map(({ dataplane }) => dataplane),
  );
  const instances = instancesPart(instancesToReport(undefined, dataplaneProxies.healthy));
  const derived = { ...identitiesPart(serviceIdentities(uris)), ...instances };
  const spec = { ...generated, state: toAvailabilityState(dataplaneProxies), ...derived };
  return { type: 'put', expect: 'absent', spec, status: { ...status, dataplaneProxies } };
}

function isSameSpec(generated: GeneratedSpec, spec: JsonObject): boolean {
  return jsonEqual(generated.selector, spec['selector']) && jsonEqual(generated.ports, spec['ports']);
}

/** Returns the computed labels, those carried over from the Dataplanes, and those that a user added to the service. */
function computeLabels({ id, existing, cp }: ServiceInputs, carried: Labels): Labels {
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

/** Returns the keys of the labels that the last plan carried over: only this distinguishes them from labels that a user added. */
function carriedBefore(existing: Resource | undefined): readonly unknown[] {
  const keys = existing?.status?.['carriedLabels'];
  return isJsonArray(keys) ? keys : [];
}

/** Returns the wanted status; undefined if a service without status needs none. */
function computeStatus(
  subject: ServiceInputs,
  generated: GeneratedSpec,
  carried: readonly string[],
): JsonObject | undefined {
  const { existing } = subject;
  const before = existing?.status;
  const keys = [...carried].sort(compareText);
  const withKeys = jsonEqual(before?.['carriedLabels'] ?? [], keys) ? before : { ...before, carriedLabels: keys };
  const losers = subject.backings.filter((backing) => !isSameSpec(backing.spec, { ...generated }));
  if (losers.length === 0 && !findCondition(before, DATAPLANES_AGREE)) return withKeys;
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

/** The labels of a Dataplane and its age. */
export interface LabelSource {
  readonly labels: Labels;
  readonly creationOrder: number;
}

interface Vote {
  readonly value: string;
  readonly count: number;
  readonly newest: number;
}

const RESERVED = ['kuma.io/', 'k8s.kuma.io/', 'causeway.io/'];

/**
 * Returns the labels that a generated service takes from its Dataplanes (docs/design.md §4 services): for each key the value that most Dataplanes
 * have; of equally frequent values the one of the newest Dataplane, then the smallest. Keys of the control plane (`kuma.io/…`, `causeway.io/…`) and
 * invalid labels are left out.
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
  return Object.fromEntries([...votes].map(([key, values]) => [key, selectWinner([...values.values()])]));
}

function isCarried(key: string, value: string): boolean {
  return !RESERVED.some((prefix) => key.startsWith(prefix)) && isLabelKey(key) && isLabelValue(value);
}

function selectWinner(votes: readonly Vote[]): string {
  const [best] = [...votes].sort((a, b) => b.count - a.count || b.newest - a.newest || compareText(a.value, b.value));
  return best?.value ?? '';
}
