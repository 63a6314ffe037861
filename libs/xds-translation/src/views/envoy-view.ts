import type { Identity } from '@causeway/resources';
import type { SocketAddress } from '../model/ingress-endpoint';
import type { SourceLimitSettings } from '../messages/source-limits';
import { parseEgressSecret, TRUST_SECRET } from '../names/resource-names';
import type { IdentityCertificate } from '../messages/tls';

/**
 * The inputs by which the resources of two proxies differ. Proxies that share a view object get the same resources; resources that do not depend on a
 * field of the view are the same objects in all views.
 */
export interface EnvoyView {
  readonly mesh: string;
  /** The protocol of the client: `grpc` for proxyless gRPC, whose resources have another form. Absent: Envoy. */
  readonly wire?: 'envoy' | 'grpc';
  /** The capture of connections to services; absent for proxies that only serve. */
  readonly capture?: Capture;
  /**
   * Names of the destinations that its proxies hold from the start; `all` of the mesh (`CAUSEWAY_XDS_SCOPE=all`); or those that the Dataplane
   * declares: if it declares none, all for `bind` and `translate`, and those in use for `redirect` and `bind` on demand.
   */
  readonly listed: ReadonlySet<string> | 'all' | 'declared';
  /** The Dataplane whose inbounds its proxies serve. */
  readonly dataplane?: Identity;
  /** The address at which the proxies serve as the zone's ingress, for all meshes. */
  readonly ingress?: SocketAddress;
  /** The address at which the proxies serve as the zone's egress, and their certificate in each mesh; undefined while there is none. */
  readonly egress?: {
    readonly at: SocketAddress;
    readonly identity: (mesh: string) => IdentityCertificate | undefined;
  };
  /** The limit of one source address at the ingress, or at the egress in each mesh, if it is not the default. */
  readonly sourceLimits?: SourceLimitSettings;
  /** The file of the system authorities of its proxies' host, by which services outside the mesh may be verified. */
  readonly systemAuthorities?: string;
  /** Whether its proxies belong to an agent of Causeway, which itself checks the addresses that they forward to. */
  readonly isAgent?: boolean;
  /** Whether the agent resolves host names and checks their addresses; it then gets names. */
  readonly resolvesNames?: boolean;
  /** Returns the certificate of the workload; undefined while there is none, or if another source than this stream provides it. */
  readonly identity?: () => IdentityCertificate | undefined;
}

/**
 * `bind`: a listener at each address of a service, `onDemand`: at those that are declared or requested by name; `redirect`: one listener to which the kernel redirects, and one on loopback for first connections
 * to HTTP services; `translate`: no listener, the kernel replaces addresses by endpoints, so only a cluster for each address is sent.
 * `withoutChains`: an Envoy before 1.40, which cannot request single filter chains; HTTP services are then passed through as TCP. `ipv6`: redirected
 * connections to IPv6 addresses arrive at ::1.
 */
export type Capture =
  | { readonly type: 'bind'; readonly onDemand?: boolean }
  | { readonly type: 'translate' }
  | {
      readonly type: 'redirect';
      readonly at: SocketAddress;
      readonly reentry: SocketAddress;
      readonly withoutChains?: boolean;
      readonly ipv6?: boolean;
    };

/** Reports whether HTTP services have filter chains of their own in the redirect listener of a view. */
export function hasChains({ capture }: Pick<EnvoyView, 'capture'>): boolean {
  return capture?.type === 'redirect' && capture.withoutChains !== true;
}

/** Reports whether the proxies of a view request the resources of services that their Dataplane does not declare when these are used. */
export function requestsUsed({ capture }: Pick<EnvoyView, 'capture'>): boolean {
  return capture?.type === 'redirect' || (capture?.type === 'bind' && capture.onDemand === true);
}

/** Returns the reason why the proxies of a view pass all traffic through as TCP and apply no route; undefined if they do not. */
export function tcpPassthroughReason({ capture }: Pick<EnvoyView, 'capture'>): string | undefined {
  if (capture?.type === 'translate') return 'capture translate';
  return capture?.type === 'redirect' && !hasChains({ capture }) ? 'before 1.40, capture redirect' : undefined;
}

/** Returns the mesh whose authorities a secret contains; undefined for other secrets. */
export function findTrustedMesh(view: EnvoyView, name: string): string | undefined {
  if (name === TRUST_SECRET) return view.mesh;
  const wanted = view.egress && parseEgressSecret(name);
  return wanted?.type === TRUST_SECRET ? wanted.mesh : undefined;
}
