import type { Violation } from '@causeway/resources';
import type { SocketAddress } from '../model/ingress-endpoint';
import type { EncodedResource, EncodeResult } from '@causeway/xds-server';
import type { EnvoyView } from '../views/envoy-view';
import type { TrafficTables } from '../tables/traffic-tables';

/**
 * The plan of one resource. `scope`: the clients that share one object of this type and name: all Envoys of a mesh, all its gRPC clients, all of its
 * proxies that treat every service as TCP (`bytes`), all ingresses, or the proxies of one view. If routes of consumers apply, `mesh` and `bytes` mean
 * the proxies of their namespace. A scope never contains content that one of its clients may not see.
 */
export interface ResourceBuild {
  readonly scope: 'mesh' | 'bytes' | 'ingress' | 'view' | 'grpc';
  /** False for a requested name that does not exist: it is answered, and not kept. */
  readonly isKept: boolean;
  /** Whether proxies that resolve host names themselves get different content from those that get addresses. */
  readonly isByNames?: boolean;
  /** The part of the configuration that cannot be translated; the resource is served without it. */
  readonly problem?: Violation;
  encode(previous: EncodedResource | undefined): EncodeResult;
}

/** Inputs of a translation. */
export interface TranslationOptions {
  /** Returns the tables that are currently served. */
  readonly tables: () => TrafficTables;
  /** HTTP addresses that have a filter chain in the view's redirect listener. */
  readonly listHttpAddresses: (view: EnvoyView) => readonly SocketAddress[];
}

/** Returns a plan whose resource is kept until a change affects it. */
export function kept(scope: ResourceBuild['scope'], encode: ResourceBuild['encode']): ResourceBuild {
  return { scope, isKept: true, encode };
}
