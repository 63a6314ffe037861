import { resolveTrustDomain } from '@causeway/identity';
import { MeshIdentity, MeshTrust } from '@causeway/kinds';
import {
  compareText,
  computedLabels,
  globalIdentity,
  identityKey,
  jsonEqual,
  Label,
  type Resource,
} from '@causeway/resources';
import { nextTickAt } from '@causeway/runtime';
import type { Change, IndexEvent, IndexReader, PutChange, WriteResult } from '@causeway/store';
import type { ControlLoop, LoopPlan } from '@causeway/loops';
import { trustName, type TrustResource } from './plan-trust';

/** The value of the label `kuma.io/managed-by` on the MeshTrusts that a zone publishes. */
export const AUTHORITY_PUBLISHER = 'workload-authority';

/** Configuration of the trust that a zone publishes. */
export interface TrustPublisherConfig {
  readonly zone: string;
  /** Returns the certificates of the zone's authorities in PEM: all that are trusted now; empty before the first is created. */
  readonly certificates: () => readonly string[];
}

/** Interval of the reads of the certificates, ms: no event of the index announces a change of them. */
const POLL_INTERVAL = 1_000;
const CHANGES_PER_PLAN = 500;

/** Returns the trust domains of a zone for which its authority signs, by the MeshIdentities of one mesh and their settings. */
function computeDomains(identities: Iterable<Resource>, index: IndexReader, zone: string): ReadonlyMap<string, string> {
  const domains = new Map<string, string>();
  for (const one of identities) {
    const isOurs = MeshIdentity.is(one) && (one.id.zone === '' || one.id.zone === zone);
    if (!isOurs || !index.get(globalIdentity('Mesh', one.id.mesh))) continue;
    const { type, bundled } = one.spec.provider;
    if (type !== 'Bundled' || bundled?.ca || bundled?.meshTrustCreation === 'Disabled') continue;
    const given = resolveTrustDomain(one, zone);
    if (given.ok) domains.set(domainKey(one.id.mesh, given.trustDomain), one.id.mesh);
  }
  return domains;
}

/**
 * Returns the trust domains, as text for an operator, in which not all proxies were sent all `certificates` (PEM) yet: the zone's own MeshTrust must
 * list them, and in a federated zone also the one that the global passes on to all zones. Sorted. Linear in MeshIdentities and MeshTrusts. A zone
 * without a session with the global does not count here: it learns of them when it reconnects.
 */
export function unspreadDomains(
  index: IndexReader,
  { zone, isFederated }: { readonly zone: string; readonly isFederated: boolean },
  certificates: readonly string[],
): readonly string[] {
  const publishers = new Map<string, Set<string>>();
  for (const trust of index.ofKind(MeshTrust.name)) {
    if (!MeshTrust.is(trust) || !hasAll(trust.spec.caBundles, certificates)) continue;
    const from = trust.id.zone === zone ? 'zone' : trust.id.zone === '' ? 'global' : undefined;
    const key = domainKey(trust.id.mesh, trust.spec.trustDomain);
    if (from !== undefined) publishers.set(key, (publishers.get(key) ?? new Set()).add(from));
  }
  const missing = [...computeDomains(index.ofKind(MeshIdentity.name), index, zone)].flatMap(([key, mesh]) => {
    const domain = `trust domain ${key.slice(mesh.length + 1)} of mesh ${mesh}`;
    if (publishers.get(key)?.has('zone') !== true) return [`${domain}: its MeshTrust is not published yet`];
    const isPassedOn = !isFederated || publishers.get(key)?.has('global') === true;
    return isPassedOn ? [] : [`${domain}: the global has not passed it on yet`];
  });
  return missing.sort(compareText);
}

/** Returns the meshes whose workloads get certificates of the zone's authority. */
export function meshesOfAuthority(index: IndexReader, zone: string): ReadonlySet<string> {
  return new Set(computeDomains(index.ofKind(MeshIdentity.name), index, zone).values());
}

function hasAll(bundles: TrustResource['spec']['caBundles'], certificates: readonly string[]): boolean {
  const texts = bundles.map(({ pem }) => pem?.value ?? '');
  return certificates.every((certificate) => texts.some((text) => text.includes(certificate.trim())));
}

function domainKey(mesh: string, trustDomain: string): string {
  return `${mesh}\n${trustDomain}`;
}

/**
 * Publishes the trust for the workloads of this zone: one MeshTrust for each mesh and trust domain for which the zone's authority signs, with the
 * certificates of all trusted authorities (docs/design.md §10). Deletes a published MeshTrust if no MeshIdentity needs it any more; before an
 * authority exists it does nothing.
 */
export class TrustPublisher implements ControlLoop {
  readonly name = 'trust-publisher';
  private index: IndexReader | undefined;
  private isStale = false;
  private published: readonly string[] = [];

  constructor(private readonly config: TrustPublisherConfig) {}

  reset(index: IndexReader): void {
    this.index = index;
    this.isStale = true;
  }

  observe({ changes }: IndexEvent): void {
    const kinds = [MeshIdentity.name, MeshTrust.name, 'Mesh'];
    if (changes.some(({ id }) => kinds.includes(id.kind))) this.isStale = true;
  }

  plan(now: number, elapsed = now): LoopPlan {
    const certificates = this.config.certificates();
    if (!jsonEqual(certificates, this.published)) this.isStale = true;
    const idle = { changes: [], wakeAt: nextTickAt(elapsed, now, POLL_INTERVAL) };
    if (!this.index || !this.isStale || certificates.length === 0) return idle;
    const all = planPublishedTrust(this.index, this.config.zone, certificates);
    this.published = certificates;
    this.isStale = all.length > CHANGES_PER_PLAN;
    return { ...idle, changes: all.slice(0, CHANGES_PER_PLAN), more: this.isStale };
  }

  onWritten(_: readonly Change[], { results }: WriteResult): void {
    if (results.some(({ type }) => type === 'refused')) this.isStale = true;
  }
}

/** Plans the changes that make the zone's published MeshTrusts match its authority. Linear in MeshIdentities and MeshTrusts. */
function planPublishedTrust(index: IndexReader, zone: string, certificates: readonly string[]): Change[] {
  const wanted = new Map<string, PutChange>();
  for (const [key, mesh] of computeDomains(index.ofKind(MeshIdentity.name), index, zone)) {
    const trustDomain = key.slice(mesh.length + 1);
    const id = { kind: MeshTrust.name, mesh, zone, namespace: '', name: trustName('authority-', trustDomain) };
    const spec = { trustDomain, caBundles: certificates.map((value) => ({ type: 'Pem', pem: { value } })) };
    const computed = computedLabels(MeshTrust, id, { role: 'zone', zone, federated: true });
    const labels = { ...computed, [Label.managedBy]: AUTHORITY_PUBLISHER };
    const held = index.get(id);
    wanted.set(identityKey(id), { type: 'put', id, expect: held?.revision ?? 'absent', labels, spec });
  }
  const changes: Change[] = [];
  for (const held of index.ofKind(MeshTrust.name)) {
    if (held.id.zone !== zone || held.labels[Label.managedBy] !== AUTHORITY_PUBLISHER) continue;
    const key = identityKey(held.id);
    const put = wanted.get(key);
    if (!put) changes.push({ type: 'delete', id: held.id, expect: held.revision });
    else if (jsonEqual(held.spec, put.spec) && jsonEqual(held.labels, put.labels)) wanted.delete(key);
  }
  return [...wanted.values(), ...changes];
}
