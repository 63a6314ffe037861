import type { Resource, ResourceKey } from '@causeway/resources';
import type { ZoneDataplaneMode } from './dataplane-modes';
import type { UnsupportedProxies } from './unsupported-proxies';

/** A proxy that has not applied a resource yet. */
export interface WaitingProxy {
  /** Set on the global, where the proxies are those of several zones. */
  readonly zone?: string;
  readonly proxy: string;
}

/** The number of members that have applied a resource, the total, and the first names of the others for a message. */
export interface AckCount<Waiting> {
  readonly acked: number;
  readonly total: number;
  readonly waiting: readonly Waiting[];
}

/** The proxies that have applied a resource. Decisions use the counts, which are complete; names are for messages. */
export interface ApplyProgress {
  /** Connected proxies of the selection that support the resource. */
  readonly proxies: AckCount<WaitingProxy>;
  /** Connected proxies of the selection that do not support it. */
  readonly unsupported: UnsupportedProxies;
  /** For a resource of the global: the zones in which all proxies have applied it. */
  readonly zones?: AckCount<string>;
  /** Whether the proxies of some zones are not counted. */
  readonly isPartial?: boolean;
  /** Connected zones that report nothing about resources of this kind: of an older version, or not yet. */
  readonly silentZones?: readonly string[];
}

/** The proxies that apply a resource: all of a mesh, those of one namespace, or some of them. */
export interface ProxyScope {
  readonly mesh: string;
  readonly namespace?: string | undefined;
  /** Selects some proxies by the identity key of the Dataplane; equal keys select the same proxies. */
  readonly some?: { readonly key: string; readonly has: (owner: ResourceKey) => boolean } | undefined;
  /** Whether the zone's egresses apply it too, because some of its targets are outside the mesh. */
  readonly includesEgresses?: boolean | undefined;
}

/** The features that a proxy needs to apply a resource. Equal keys mean the same features. */
export interface RequiredFeatures {
  readonly key: string;
  /** `isTcpPassthrough`: whether the proxy passes all traffic through as TCP. */
  readonly isSupported: (mode: ZoneDataplaneMode, isTcpPassthrough: boolean) => boolean;
}

/** The proxies that apply a resource, and the features that they need. */
export interface ApplyRequirement {
  readonly selection: ProxyScope;
  readonly features: RequiredFeatures;
}

/** A query for the proxies that have applied a resource. */
export interface ProgressQuery extends ApplyRequirement {
  readonly resource: Resource;
  /** The revision of the local log with which the resource came into force in its current form. */
  readonly since: number;
}

/** Reports which proxies have applied routes and policies. */
export interface ProgressSource {
  /** Returns undefined while unknown. */
  of(query: ProgressQuery): ApplyProgress | undefined;
  /** Changes whenever an answer may have changed. */
  readonly version: string;
  readonly unsupported: UnsupportedChanges;
  /** Returns the names of the zones of Kuma, sorted; undefined while unknown. */
  kumaZones?(): readonly string[] | undefined;
}

/** Detects watched resources whose set of proxies without support has changed. */
export interface UnsupportedChanges {
  watch(resource: Pick<Resource, 'id'>, requirement: ApplyRequirement): void;
  forget(key: ResourceKey): void;
  /** Returns the keys that changed since the last call. */
  takeChanged(): readonly ResourceKey[];
}
