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
  /** Names that it asked for by name. */
  readonly subscribed: number;
  /** Resources that it was sent or had. */
  readonly held: number;
  /** It has acked, or rejected, all changes up to this revision of the source; -1: not known. */
  readonly ackedRevision: number;
  /** It applies all changes up to this revision: what it rejects does not count. */
  readonly appliedRevision: number;
  /** It applies all changes, whatever revision comes, until it is sent or asks for something. */
  readonly isAtRest: boolean;
  readonly responses: Readonly<ResponseCounts>;
  /** Its last rejection, until a later response is acked. */
  readonly lastRejection?: ProxyRejection;
  /** The resources that it rejects. */
  readonly rejected: readonly RejectedResource[];
  /** Of secrets: the versions that it has accepted, by name; empty where it has accepted none yet. */
  readonly versions?: Readonly<Record<string, string>>;
}

/** One stream of a proxy; a proxy may have several. */
export interface ProxyStatus {
  readonly id: string;
  /** The Dataplane, or the ingress, that it is the proxy of. */
  readonly owner?: Identity;
  /** Why it passes all traffic through as TCP; absent where it does not. */
  readonly tcpPassthroughReason?: string;
  readonly node: string;
  readonly address: string;
  readonly userAgent: string;
  readonly form: AdsForm;
  /** When its stream began, ms since 1970. */
  readonly since: number;
  readonly types: readonly ProxyTypeStatus[];
  /** Resources that it would have and that break Envoy's rules. */
  readonly refused: readonly RefusedResource[];
}

/** Undefined while the proxy is not admitted. */
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

/** Most secrets of a proxy whose versions are reported: its own certificate and the authorities, of an egress in each mesh. */
const MAX_SECRETS = 2_000;

function acceptedVersions(subscription: Subscription): Readonly<Record<string, string>> {
  const names = [...subscription.named].slice(0, MAX_SECRETS);
  return Object.fromEntries(names.map((name) => [name, subscription.acceptedVersion(name) ?? '']));
}
