import { createHash } from 'node:crypto';
import { keepsNameOnWire } from '@causeway/naming';
import {
  identityKey,
  Label,
  shortened,
  type Identity,
  type JsonObject,
  type Kind,
  type Labels,
} from '@causeway/resources';
import type { CopyFacts } from '@causeway/store';
import { kumaTranslation } from '@causeway/kuma';
import { CREATION_ORDER_LABEL, type WireResource } from './wire-resource';

/** The properties of a kind that determine the identity of a copy. */
export type CopiedKind = Pick<Kind, 'scope' | 'namespaced' | 'sync'>;

/** The sender of a resource: the global, or a zone by its authenticated name. */
export type Sender = { readonly role: 'global' } | { readonly role: 'zone'; readonly zone: string };

/** A received resource in the form of a `put` change. */
export interface Copy {
  readonly id: Identity;
  readonly labels: Labels;
  readonly spec: JsonObject;
  readonly status?: JsonObject;
  readonly facts: CopyFacts;
}

export type CopyResult = { readonly ok: true; readonly copy: Copy } | { readonly ok: false; readonly reason: string };

/**
 * Returns the copy of a received resource, or why it is rejected. The zone of a zone's resources is the sender, even if their content claims another
 * (docs/design.md §5 Ownership, docs/reference/kds-wire.md §4.4). Ambiguous identities and those of the wrong scope are rejected. Without `cw-meta`
 * the copy has origin incarnation '' and revision 0, which order nothing, a uid derived from the identity, generation 0 and creation time 0.
 */
export function toCopy(wire: WireResource, kind: CopiedKind, sender: Sender): CopyResult {
  const id = readIdentity(wire, kind, sender);
  const reason = identityFault(id, kind);
  if (reason !== undefined) return { ok: false, reason };
  const { [CREATION_ORDER_LABEL]: order, ...labels } = wire.labels;
  const { status } = wire;
  const spec = specFrom(wire, sender);
  const copy = { id, spec, labels: { ...labels, ...ownership(sender) }, facts: readFacts(wire, id, order) };
  return { ok: true, copy: status === undefined ? copy : { ...copy, status } };
}

function readIdentity(wire: WireResource, kind: CopiedKind, sender: Sender): Identity {
  const { meta, labels, mesh } = wire;
  const claimed = meta?.zone ?? labels[Label.zone] ?? '';
  const zone = sender.role === 'zone' ? sender.zone : claimed;
  const namespace = meta?.namespace || labels[Label.namespace] || 'default';
  return {
    kind: wire.kind,
    mesh,
    zone: kind.sync.zoneInIdentity ? zone : '',
    namespace: kind.namespaced ? namespace : '',
    name: keepsNameOnWire(wire.kind) ? wire.name : labels[Label.displayName] || wire.name,
  };
}

function specFrom({ kind, spec }: WireResource, sender: Sender): JsonObject {
  const { withOriginZone } = kumaTranslation(kind);
  return sender.role === 'zone' && withOriginZone !== undefined ? withOriginZone(spec, sender.zone) : spec;
}

function ownership(sender: Sender): Labels {
  return sender.role === 'zone' ? { [Label.origin]: 'zone', [Label.zone]: sender.zone } : { [Label.origin]: 'global' };
}

function identityFault(id: Identity, kind: CopiedKind): string | undefined {
  if (kind.scope === 'mesh' && id.mesh === '') return 'mesh is missing';
  if (kind.scope === 'global' && id.mesh !== '')
    return `mesh must be empty for a kind of global scope; got "${shortened(id.mesh, 80)}"`;
  const parts = [id.mesh, id.zone, id.namespace, id.name];
  const odd = parts.find((part) => part.includes('/') || part.length > 253);
  return odd === undefined
    ? undefined
    : `identity must have parts of at most 253 characters without "/"; got "${shortened(odd, 80)}"`;
}

function readFacts({ meta }: WireResource, id: Identity, order: string | undefined): CopyFacts {
  const creationOrder = meta?.creationOrder ?? parseOrder(order);
  return {
    uid: meta?.uid ?? formatUid(id),
    generation: meta?.generation ?? 0,
    creationOrder,
    createdAt: Math.floor(creationOrder / 1000),
    origin: meta?.origin ?? { incarnation: '', revision: 0, committedAt: 0 },
  };
}

function parseOrder(label: string | undefined): number {
  const order = Number(label ?? 0);
  return Number.isSafeInteger(order) && order > 0 ? order : 0;
}

/** A uid derived from the identity, so it is the same each time the resource is received. */
function formatUid(id: Identity): string {
  const hex = createHash('sha256').update(identityKey(id)).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
