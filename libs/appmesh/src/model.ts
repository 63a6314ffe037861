import type { LabelSelector, Resource } from '@causeway/resources';

/** The kinds that are compiled. */
export const sourceKinds = ['VirtualNode', 'VirtualRouter', 'VirtualService'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** Protocols of a listener. */
export const listenerProtocols = ['http', 'http2', 'grpc', 'tcp'] as const;
export type Protocol = (typeof listenerProtocols)[number];

/** A typed reference; an absent or empty namespace means that of the referring resource (T003-10). */
export interface VirtualRef {
  readonly name: string;
  readonly namespace?: string;
}

export interface Duration {
  readonly unit: 's' | 'ms';
  readonly value: number;
}

export interface PortMapping {
  readonly port: number;
  readonly protocol: Protocol;
}

/** When each caller ejects a failing instance for a while. */
interface OutlierDetection {
  readonly maxServerErrors?: number;
  readonly interval?: Duration;
  readonly baseEjectionDuration?: Duration;
  readonly maxEjectionPercent?: number;
}

export interface NodeListener {
  readonly portMapping: PortMapping;
  readonly outlierDetection?: OutlierDetection;
}

/** Settings for the calls of a node. */
interface NodeClient {
  readonly clientPolicy?: object;
}

export interface VirtualNodeSpec {
  readonly awsName?: string;
  /** Selects Dataplanes of its own namespace; both absent select none, `{}` all (T003-30, T003-31). */
  readonly podSelector?: LabelSelector;
  /** The same selector under this product's name. */
  readonly dataplaneSelector?: LabelSelector;
  readonly listeners?: readonly NodeListener[];
  readonly backends?: readonly { readonly virtualService: NodeClient & { readonly virtualServiceRef: VirtualRef } }[];
  readonly backendDefaults?: NodeClient;
}

/** Condition on a header, a metadata entry or a query parameter; an empty one only requires its presence. */
export interface TextMatch {
  readonly exact?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly regex?: string;
}

export interface NamedMatch {
  readonly name: string;
  readonly match?: TextMatch;
}

export interface HttpMatch {
  readonly prefix?: string;
  readonly path?: { readonly exact?: string; readonly regex?: string };
  readonly method?: string;
  readonly headers?: readonly NamedMatch[];
  readonly queryParameters?: readonly NamedMatch[];
  readonly port?: number;
}

export interface GrpcMatch {
  readonly serviceName?: string;
  readonly methodName?: string;
  readonly metadata?: readonly NamedMatch[];
  readonly port?: number;
}

export interface WeightedTarget {
  readonly virtualNodeRef: VirtualRef;
  readonly weight: number;
  readonly port?: number;
}

export interface RetryEvents {
  readonly httpRetryEvents?: readonly string[];
  readonly tcpRetryEvents?: readonly string[];
  readonly grpcRetryEvents?: readonly string[];
  readonly maxRetries?: number;
  readonly perRetryTimeout?: Duration;
}

interface RouteBody<Match> {
  readonly match?: Match;
  readonly action?: { readonly weightedTargets?: readonly WeightedTarget[] };
  readonly timeout?: { readonly perRequest?: Duration; readonly idle?: Duration };
  readonly retryPolicy?: RetryEvents;
}

export type HttpRouteBody = RouteBody<HttpMatch>;
export type GrpcRouteBody = RouteBody<GrpcMatch>;
export type TcpRouteBody = RouteBody<{ readonly port?: number }>;

/** One route: exactly one of the four protocols, each under its name in the seed or the one of later versions (T003-18). */
export interface RouterRoute {
  readonly name: string;
  /** Priority: smaller numbers first; absent comes last. */
  readonly priority?: number;
  readonly http?: HttpRouteBody;
  readonly httpRoute?: HttpRouteBody;
  readonly http2?: HttpRouteBody;
  readonly http2Route?: HttpRouteBody;
  readonly grpc?: GrpcRouteBody;
  readonly grpcRoute?: GrpcRouteBody;
  readonly tcp?: TcpRouteBody;
  readonly tcpRoute?: TcpRouteBody;
}

export interface VirtualRouterSpec {
  readonly awsName?: string;
  readonly listeners?: readonly { readonly portMapping: PortMapping }[];
  readonly routes?: readonly RouterRoute[];
}

interface VirtualServiceSpec {
  readonly awsName?: string;
  readonly provider?: {
    readonly virtualNode?: { readonly virtualNodeRef: VirtualRef };
    readonly virtualRouter?: { readonly virtualRouterRef: VirtualRef };
  };
}

type StoredSource<Spec> = Pick<Resource<Spec>, 'id' | 'creationOrder' | 'generation' | 'spec'>;

/** The compiled parts of a stored VirtualNode, VirtualRouter or VirtualService. A `creationOrder` of 0 is unknown and ranks last. */
export type VirtualSource =
  | (StoredSource<VirtualNodeSpec> & { readonly kind: 'VirtualNode' })
  | (StoredSource<VirtualRouterSpec> & { readonly kind: 'VirtualRouter' })
  | (StoredSource<VirtualServiceSpec> & { readonly kind: 'VirtualService' });

/** A Dataplane as nodes select it. */
export interface Member extends Pick<Resource, 'id' | 'labels'> {
  /** Node to which it is bound, as `namespace/name`; unchanged while that node selects it (T003-33). */
  readonly boundTo?: string;
}

/** Frontends that the Dataplanes of a node may call within App Mesh, by namespace and name (T003-35). */
export type ReachableFrontends = readonly { readonly namespace: string; readonly name: string }[];

/** Returns the selector of a node under either name (T003-30). */
export const findSelector = ({ podSelector, dataplaneSelector }: VirtualNodeSpec): LabelSelector | undefined =>
  podSelector ?? dataplaneSelector;
