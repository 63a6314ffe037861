import type { LabelSelector, Resource, Violation } from '@causeway/resources';

/** Kinds of routes by precedence at one port (T002-25); UDPRoute never conflicts with others (T002-26). */
export const routeKinds = ['GRPCRoute', 'HTTPRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'] as const;
export type RouteKind = (typeof routeKinds)[number];

/** A reference as written in routes. `group` may contain a version; an absent namespace means that of the route. */
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

/** Destination of a rule; its weight is 1 unless set. */
interface RouteBackendRef extends ObjectRef {
  readonly weight?: number;
  readonly filters?: readonly Filter[];
}

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** Changes of headers: `set` replaces, `add` appends, `remove` deletes. Names are case-insensitive. */
export interface HeaderChanges {
  readonly set?: readonly NamedValue[];
  readonly add?: readonly NamedValue[];
  readonly remove?: readonly string[];
}

/** `ReplaceFullPath` or `ReplacePrefixMatch`, and the field that belongs to it. */
export interface PathChange {
  readonly type: string;
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

/** One filter of a request or its response; the field that belongs to `type` is set. */
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

/** `Exact` unless `type` is `RegularExpression`. */
export interface ValueMatch extends NamedValue {
  readonly type?: string;
}

/** One match of a rule; all its fields must match. `method` is a text in an HTTPRoute, an object in a GRPCRoute. */
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
  /** Durations in the format of GEP-2257: 10s, 1h30m; 0s means none. */
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
}

/** Spec of any of the five kinds. Enum values are texts, because synced and older resources may have unknown ones. */
export interface RouteSpec {
  readonly parentRefs?: readonly ParentRef[];
  readonly hostnames?: readonly string[];
  readonly rules?: readonly RouteRule[];
}

/** A stored route: the part of a resource that routing reads. A `creationOrder` of 0 is unknown and ranks last. */
export interface Route extends Pick<Resource<RouteSpec>, 'id' | 'creationOrder' | 'generation' | 'spec'> {
  /** Whether the route applies only at ports where no other route of its group is bound: generated from the service's source. */
  readonly implicit?: boolean;
  /** Unreadable rules by index: another zone or an older store may have any content. They are dropped. */
  readonly unreadable?: ReadonlyMap<number, Violation>;
  /**
   * Forbidden rules by index: they would change a header or write a text that resources must not write (docs/reference/routing.md, Headers and
   * paths). They match as usual and answer 500.
   */
  readonly forbidden?: ReadonlyMap<number, Violation>;
}

interface FrontendServicePort {
  readonly port: number;
  readonly name?: string;
}

/** A MeshService or MeshMultiZoneService in its two roles: frontend to which routes bind, and backend that rules name. */
export interface Service extends Pick<Resource, 'id'> {
  /** Display name, by which references find it; the same in every zone. */
  readonly displayName: string;
  readonly ports: readonly FrontendServicePort[];
  /** Has no virtual IP: can be a backend, never a frontend (T002-14). */
  readonly headless: boolean;
}

/** Namespaces and kinds of routes that may bind; absent means any. */
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

/** Allows routes of other namespaces that are bound to a Gateway to name backends in its namespace (T002-36). */
export interface ReferenceGrant extends Pick<Resource, 'id'> {
  readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
  readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
}
