import type { JsonObject, Labels } from '@causeway/resources';
import type { ProtoSpec } from './proto-spec';

/** Modes of MeshServices in a Mesh of Kuma 2.14. */
export type MeshServicesMode = 'Disabled' | 'Everywhere' | 'ReachableBackends' | 'Exclusive';

/** What of Kuma's language depends on our configuration. */
export interface KumaOptions {
  /** Without a mode a Kuma zone generates no MeshService (design.md §5). */
  readonly meshServicesMode: MeshServicesMode;
}

/** How one kind is said to Kuma and understood from it; what is absent is the same in both languages. */
export interface KumaTranslation {
  readonly toKumaSpec?: (spec: JsonObject, options: KumaOptions) => JsonObject;
  readonly fromKumaSpec?: (spec: JsonObject) => JsonObject;
  readonly toKumaStatus?: (status: JsonObject) => JsonObject;
  readonly fromKumaStatus?: (status: JsonObject, labels: Labels) => JsonObject;
  /** What a global writes into the spec about the zone that it came from, whatever the zone said (kds.md §4.4). */
  readonly withOriginZone?: (spec: JsonObject, zone: string) => JsonObject;
  /** Set for kinds whose spec Kuma sends as protobuf (kds.md §3, "P"). */
  readonly proto?: ProtoSpec;
}
