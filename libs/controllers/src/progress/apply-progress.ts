import type { Resource, ResourceKey } from '@causeway/resources';
import type { ZoneDataplaneMode } from './dataplane-modes';
import type { UnsupportedProxies } from './unsupported-proxies';

/** A proxy that has not applied a resource yet. */
export interface WaitingProxy {
  /** Set on the global, where the proxies are those of several zones. */
  readonly zone?: string;
  readonly proxy: string;
}

/** The number of members that have applied something, of how many, and the first of the others: enough for a message. */
export interface AckCount<Waiting> {
  readonly acked: number;
  readonly total: number;
  readonly waiting: readonly Waiting[];
}

/** Who has applied a resource. Decisions are taken from the counts, which are complete; names are for messages. */
export interface ApplyProgress {
  /** Connected proxies of the selection that support the resource. */
  readonly proxies: AckCount<WaitingProxy>;
  /** Connected proxies of the selection that do not support it. */
  readonly unsupported: UnsupportedProxies;
  /** Of a resource of the global: the zones whose proxies have all applied it. */
  readonly zones?: AckCount<string>;
  /** The proxies of some zones are not counted. */
  readonly isPartial?: boolean;
  /** Connected zones that report nothing of resources of this kind: of an older version, or not yet. */
  readonly silentZones?: readonly string[];
}

/** The proxies that apply a resource: all of a mesh, those of one namespace, or some of them. */
export interface ProxyScope {
  readonly mesh: string;
  readonly namespace?: string | undefined;
  /** Some of them: by the identity key of the Dataplane; equal keys select the same. */
  readonly some?: { readonly key: string; readonly has: (owner: ResourceKey) => boolean } | undefined;
  /** The zone's egresses apply it too: some of its targets are outside the mesh. */
  readonly includesEgresses?: boolean | undefined;
}

/** The features that a proxy needs to apply a resource. Equal keys mean the same features. */
export interface RequiredFeatures {
  readonly key: string;
  /** `isTcpPassthrough`: of a proxy that passes all traffic through as TCP. */
  readonly isSupported: (mode: ZoneDataplaneMode, isTcpPassthrough: boolean) => boolean;
}

/** The proxies that are to apply a resource, and the features that this takes. */
export interface ApplyRequirement {
  readonly selection: ProxyScope;
  readonly features: RequiredFeatures;
}

/** Asks who has applied a resource. */
export interface ProgressQuery extends ApplyRequirement {
  readonly resource: Resource;
  /** The revision of the log here with which the resource came into force as it is. */
  readonly since: number;
}

/** Knows who has applied routes and policies. */
export interface ProgressSource {
  /** Undefined where nothing is known yet. */
  of(query: ProgressQuery): ApplyProgress | undefined;
  /** Equal versions mean that nothing has changed in between. */
  readonly version: string;
  readonly unsupported: UnsupportedChanges;
  /** Names of the zones of Kuma, sorted; undefined while they are not known. */
  kumaZones?(): readonly string[] | undefined;
}

/** Notices, of the resources that it watches, those which other proxies than before do not support. */
export interface UnsupportedChanges {
  watch(resource: Pick<Resource, 'id'>, requirement: ApplyRequirement): void;
  forget(key: ResourceKey): void;
  /** Returns the keys of those that changed since the call before. */
  takeChanged(): readonly ResourceKey[];
}
