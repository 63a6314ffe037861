import type { LabelSelector, Resource, Violation } from '@causeway/resources';

/** The kinds of routes, the stronger first where several want one port (T002-25); UDPRoute competes with none (T002-26). */
export const routeKinds = ['GRPCRoute', 'HTTPRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'] as const;
export type RouteKind = (typeof routeKinds)[number];

/** A reference as routes write it. A `group` may carry a version; a missing namespace is that of the route. */
export interface ObjectRef {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly port?: number;
}

/** Parent of a route: a service or a listener of a Gateway. */
export interface ParentRef extends ObjectRef {
  readonly sectionName?: string;
}

/** Destination of a rule; weight 1 unless given. */
interface RouteBackendRef extends ObjectRef {
  readonly weight?: number;
  readonly filters?: readonly Filter[];
}

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** Changes of headers; `set` replaces, `add` appends, `remove` takes away. Names are case-insensitive. */
export interface HeaderChanges {
  readonly set?: readonly NamedValue[];
  readonly add?: readonly NamedValue[];
  readonly remove?: readonly string[];
}

/** `ReplaceFullPath` or `ReplacePrefixMatch`, with the field of that name. */
export interface PathChange {
  readonly type: string;
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

/** One step on a request or its answer; the field named after `type` is set. */
export interface Filter {
  readonly type: string;
  readonly requestHeaderModifier?: HeaderChanges;
  readonly responseHeaderModifier?: HeaderChanges;
  readonly requestRedirect?: {
    readonly scheme?: string;
    readonly hostname?: string;
    readonly path?: PathChange;
    readonly port?: number;
    readonly statusCode?: number;
  };
  readonly urlRewrite?: { readonly hostname?: string; readonly path?: PathChange };
  readonly requestMirror?: {
    readonly backendRef: ObjectRef;
    readonly percent?: number;
    readonly fraction?: { readonly numerator: number; readonly denominator?: number };
  };
  readonly extensionRef?: ObjectRef;
}

/** `Exact` unless `type` says `RegularExpression`. */
export interface ValueMatch extends NamedValue {
  readonly type?: string;
}

/** One match of a rule; all its fields must hold. `method` is a text in an HTTPRoute, an object in a GRPCRoute. */
export interface RouteMatch {
  readonly path?: { readonly type?: string; readonly value?: string };
  readonly headers?: readonly ValueMatch[];
  readonly queryParams?: readonly ValueMatch[];
  readonly method?: string | { readonly type?: string; readonly service?: string; readonly method?: string };
}

export interface RouteRule {
  readonly name?: string;
  readonly matches?: readonly RouteMatch[];
  readonly filters?: readonly Filter[];
  readonly backendRefs?: readonly RouteBackendRef[];
  /** Durations as GEP-2257 writes them: 10s, 1h30m; 0s is none. */
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
}

/** The spec of any of the five kinds. Values of enums are texts, because sync and older stores may bring unknown ones. */
export interface RouteSpec {
  readonly parentRefs?: readonly ParentRef[];
  readonly hostnames?: readonly string[];
  readonly rules?: readonly RouteRule[];
}

/** A stored route: the part of a resource that routing reads. `creationOrder` 0 is unknown and ranks last. */
export interface Route extends Pick<Resource<RouteSpec>, 'id' | 'creationOrder' | 'generation' | 'spec'> {
  /** Route of a service for ports where no other route of its group is bound: generated from the service's source. */
  readonly implicit?: boolean;
  /** By index: rules that cannot be read, for another zone or an older store may have brought anything. They are dropped. */
  readonly unreadable?: ReadonlyMap<number, Violation>;
  /**
   * By index: rules that would change a header or write a text that no resource may write (docs/reference/routing.md, Headers and paths).
   * They match as they are and answer 500.
   */
  readonly forbidden?: ReadonlyMap<number, Violation>;
}

interface FrontendServicePort {
  readonly port: number;
  readonly name?: string;
}

/** A MeshService or MeshMultiZoneService in its two roles: the frontend that routes bind to, the backend that rules name. */
export interface Service extends Pick<Resource, 'id'> {
  /** The name by which references find it: the display name, equal in every zone. */
  readonly displayName: string;
  readonly ports: readonly FrontendServicePort[];
  /** Without virtual IP: a backend, never a frontend (T002-14). */
  readonly headless: boolean;
}

/** From which namespaces a route may come, and of which kinds; absent means any. */
export interface AllowedRoutes {
  readonly namespaces?: { readonly from?: string; readonly selector?: LabelSelector };
  readonly kinds?: readonly { readonly group?: string; readonly kind: string }[];
}

/** A Gateway. No gateway is run; routes that name it are bound and evaluated. */
export interface Gateway extends Pick<Resource, 'id'> {
  readonly listeners: readonly {
    readonly name: string;
    readonly port: number;
    readonly protocol: string;
    readonly hostname?: string;
    readonly allowedRoutes?: AllowedRoutes;
  }[];
}

/** Lets routes of other namespaces, bound to a Gateway, send to what stands in its own namespace (T002-36). */
export interface ReferenceGrant extends Pick<Resource, 'id'> {
  readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
  readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
}
