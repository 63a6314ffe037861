import type { Cluster, FilterChain, Listener, Route, RouteAction, RouteMatch } from '@causeway/proto-gen';

/** Fields of a Listener with a name; absent fields have their defaults. */
export type ListenerFields = Parameters<typeof Listener.fromPartial>[0] & { readonly name: string };
/** Fields of a Cluster with a name. */
export type ClusterFields = Parameters<typeof Cluster.fromPartial>[0] & { readonly name: string };
/** Fields of a FilterChain. */
export type ChainFields = NonNullable<Parameters<typeof FilterChain.fromPartial>[0]>;
/** Fields of a FilterChain with a name. */
export type NamedChainFields = ChainFields & { readonly name: string };
/** Fields of a Route. */
export type RouteFields = Parameters<typeof Route.fromPartial>[0];
/** Fields of the forwarding action of a Route. */
export type RouteActionFields = Parameters<typeof RouteAction.fromPartial>[0];
/** Fields of the match of a Route. */
export type RouteMatchFields = Parameters<typeof RouteMatch.fromPartial>[0];
/** The path in the match of a Route. */
export type PathFields = NonNullable<RouteMatchFields['pathSpecifier']>;
