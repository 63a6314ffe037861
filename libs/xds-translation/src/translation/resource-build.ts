import type { Violation } from '@causeway/resources';
import type { SocketAddress } from '../model/ingress-endpoint';
import type { EncodedResource, EncodeResult } from '@causeway/xds-server';
import type { EnvoyView } from '../views/envoy-view';
import type { TrafficTables } from '../tables/traffic-tables';

/**
 * How one resource is made. `scope`: resources of one type and name are one object for all Envoys of a mesh, for all its gRPC
 * clients, for all of its proxies to which every service is bytes (`bytes`), for all ingresses, or are made for one view. Where routes
 * of consumers decide, `mesh` and `bytes` mean the proxies of their namespace. A scope never holds what another may not see.
 */
export interface ResourceBuild {
  readonly scope: 'mesh' | 'bytes' | 'ingress' | 'view' | 'grpc';
  /** False for what is asked for and does not exist: it is answered, and not kept. */
  readonly isKept: boolean;
  /** Whether proxies that resolve host names themselves get another one than those that get addresses. */
  readonly isByNames?: boolean;
  /** The part of the configuration that cannot be translated; the resource is served without it. */
  readonly problem?: Violation;
  encode(previous: EncodedResource | undefined): EncodeResult;
}

/** Inputs of a translation. */
export interface TranslationOptions {
  /** Returns the tables that are served from now. */
  readonly tables: () => TrafficTables;
  /** HTTP addresses that have a filter chain in the view's redirect listener. */
  readonly listHttpAddresses: (view: EnvoyView) => readonly SocketAddress[];
}

/** A plan whose resource is kept until a change touches it. */
export function kept(scope: ResourceBuild['scope'], encode: ResourceBuild['encode']): ResourceBuild {
  return { scope, isKept: true, encode };
}
