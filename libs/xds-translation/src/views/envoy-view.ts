import type { Identity } from '@causeway/resources';
import type { SocketAddress } from '../model/ingress-endpoint';
import type { SourceLimitSettings } from '../messages/source-limits';
import { parseEgressSecret, TRUST_SECRET } from '../names/resource-names';
import type { IdentityCertificate } from '../messages/tls';

/**
 * What makes the resources of two proxies differ. Proxies that share a view object get the same resources; resources that do not
 * depend on a part of the view are the same objects in all views.
 */
export interface EnvoyView {
  readonly mesh: string;
  /** Of which client the resources are read: `grpc` for proxyless gRPC, which takes them in another form. Envoy where it is absent. */
  readonly wire?: 'envoy' | 'grpc';
  /** The capture of connections to services; absent for proxies that only serve. */
  readonly capture?: Capture;
  /**
   * Names of the destinations that its proxies hold from the start; all of the mesh (`CAUSEWAY_XDS_SCOPE=all`); or what the
   * Dataplane declares: where it does not say, all for `bind` and `translate`, and what is used for `redirect`.
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
  /** The file of the authorities that the machine of its proxies believes; services outside the mesh may be checked by them. */
  readonly systemAuthorities?: string;
  /** Its proxies are of an agent of Causeway: what they forward to is for the agent to check. */
  readonly isAgent?: boolean;
  /** The agent resolves host names and checks their addresses, so it gets names. */
  readonly resolvesNames?: boolean;
  /** The certificate of the workload; undefined while there is none, or where it comes from elsewhere than this stream. */
  readonly identity?: () => IdentityCertificate | undefined;
}

/**
 * `bind`: a listener at each address of a service; `redirect`: one listener to which the kernel redirects, and one on loopback
 * for first connections to HTTP services; `translate`: none, the kernel replaces addresses by endpoints, so a cluster for each
 * address is all that is sent. `withoutChains`: an Envoy before 1.40, which takes no filter chains one by one; HTTP services are then
 * passed on as bytes. `ipv6`: redirected connections to IPv6 addresses arrive at ::1.
 */
export type Capture =
  | { readonly type: 'bind' }
  | { readonly type: 'translate' }
  | {
      readonly type: 'redirect';
      readonly at: SocketAddress;
      readonly reentry: SocketAddress;
      readonly withoutChains?: boolean;
      readonly ipv6?: boolean;
    };

/** Whether HTTP services have filter chains of their own in the redirect listener of a view. */
export function hasChains({ capture }: Pick<EnvoyView, 'capture'>): boolean {
  return capture?.type === 'redirect' && capture.withoutChains !== true;
}

/** Returns why the proxies of a view pass all traffic through as TCP, so that they apply no route; undefined where they do not. */
export function tcpPassthroughReason({ capture }: Pick<EnvoyView, 'capture'>): string | undefined {
  if (capture?.type === 'translate') return 'capture translate';
  return capture?.type === 'redirect' && !hasChains({ capture }) ? 'before 1.40, capture redirect' : undefined;
}

/** The mesh whose authorities a secret holds; undefined for other secrets. */
export function findTrustedMesh(view: EnvoyView, name: string): string | undefined {
  if (name === TRUST_SECRET) return view.mesh;
  const wanted = view.egress && parseEgressSecret(name);
  return wanted?.type === TRUST_SECRET ? wanted.mesh : undefined;
}
