import type { AdsForm } from './ads-messages';
import type { AdsStream } from './ads-stream';
import type { Rejection } from './subscription';

/** What a proxy has of one type. */
export interface ProxyTypeStatus {
  readonly type: string;
  readonly isWildcard: boolean;
  /** Names that it asked for by name. */
  readonly subscribed: number;
  /** Resources that it was sent or had. */
  readonly held: number;
  /** It has acked, or rejected, all changes up to this revision of the source. */
  readonly ackedRevision: number;
  /** What it refused, until that is acked. */
  readonly lastRejection?: Rejection;
}

/** One stream of a proxy; a proxy may have several. */
export interface ProxyStatus {
  readonly id: string;
  readonly node: string;
  readonly address: string;
  readonly form: AdsForm;
  /** When its stream began, ms since 1970. */
  readonly since: number;
  readonly types: readonly ProxyTypeStatus[];
}

/** Undefined while the proxy is not admitted. */
export function statusOfProxy<V>(stream: AdsStream<V>, revision: number): ProxyStatus | undefined {
  const { session, node, address, form, since } = stream;
  if (!session) return undefined;
  const types = [...session.subscriptions.values()].map((subscription) => ({
    type: subscription.type,
    isWildcard: subscription.isWildcard,
    subscribed: subscription.named.size,
    held: subscription.heldCount,
    ackedRevision: subscription.ackedRevision(revision),
    ...(subscription.lastRejection && { lastRejection: subscription.lastRejection }),
  }));
  return { id: session.proxyId, node, address, form, since, types };
}
