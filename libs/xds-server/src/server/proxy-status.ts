import type { Identity } from '@causeway/resources';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import type { AdsForm } from './ads-messages';
import type { AdsStream } from './ads-stream';
import type { RejectedResource, ProxyRejection } from './rejections';
import type { RefusedResource } from './resource-source';
import type { ResponseCounts, Subscription } from './subscription';

/** State of one resource type of a proxy. */
export interface ProxyTypeStatus {
  readonly type: string;
  readonly isWildcard: boolean;
  /** The number of names that it subscribed to explicitly. */
  readonly subscribed: number;
  /** The number of resources that it was sent or reported. */
  readonly held: number;
  /** The revision of the source up to which it has acknowledged or rejected all changes; -1: unknown. */
  readonly ackedRevision: number;
  /** The revision up to which it applies all changes: rejected ones do not count. */
  readonly appliedRevision: number;
  /** Whether it applies all changes, whatever the revision, until a resource is sent or requested. */
  readonly isAtRest: boolean;
  readonly responses: Readonly<ResponseCounts>;
  /** Its latest rejection, until a later response is acknowledged. */
  readonly lastRejection?: ProxyRejection;
  /** The resources that it currently rejects. */
  readonly rejected: readonly RejectedResource[];
  /** For secrets: the versions that it has accepted, by name; empty before the first. */
  readonly versions?: Readonly<Record<string, string>>;
}

/** One stream of a proxy; a proxy may have several. */
export interface ProxyStatus {
  readonly id: string;
  /** The Dataplane or ingress of the proxy. */
  readonly owner?: Identity;
  /** The reason why it passes all traffic through as TCP; absent if it does not. */
  readonly tcpPassthroughReason?: string;
  readonly node: string;
  readonly address: string;
  readonly userAgent: string;
  readonly form: AdsForm;
  /** When its stream began, ms since 1970. */
  readonly since: number;
  readonly types: readonly ProxyTypeStatus[];
  /** Resources of this proxy that violate Envoy's constraints. */
  readonly refused: readonly RefusedResource[];
}

/** Returns undefined until the proxy is admitted. */
export function statusOfProxy<V>(stream: AdsStream<V>, revision: number): ProxyStatus | undefined {
  const { session, node, address, userAgent, form, since } = stream;
  if (!session) return undefined;
  const { proxyId: id, owner, tcpPassthroughReason } = session;
  const types = [...session.subscriptions.values()].map((subscription) => statusOfType(subscription, revision));
  const own = { ...(owner && { owner }), ...(tcpPassthroughReason !== undefined && { tcpPassthroughReason }) };
  return { id, ...own, node, address, userAgent, form, since, types, refused: session.refused() };
}

function statusOfType(subscription: Subscription, revision: number): ProxyTypeStatus {
  const { type, isWildcard, named, heldCount: held, responses, rejections } = subscription;
  const { last } = rejections;
  return {
    type,
    isWildcard,
    subscribed: named.size,
    held,
    ackedRevision: subscription.ackedRevision(revision),
    appliedRevision: subscription.appliedRevision(revision),
    isAtRest: subscription.isAtRest,
    responses: { ...responses },
    ...(last && { lastRejection: last }),
    rejected: last ? rejections.list() : [],
    ...(type === RESOURCE_TYPES.secret && { versions: acceptedVersions(subscription) }),
  };
}

/** Maximum number of secrets of a proxy whose versions are reported: its own certificate and the authorities; for an egress those of each mesh. */
const MAX_SECRETS = 2_000;

function acceptedVersions(subscription: Subscription): Readonly<Record<string, string>> {
  const names = [...subscription.named].slice(0, MAX_SECRETS);
  return Object.fromEntries(names.map((name) => [name, subscription.acceptedVersion(name) ?? '']));
}
