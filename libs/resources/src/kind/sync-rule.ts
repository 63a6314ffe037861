/**
 * Writers of a kind, and the directions in which it is synced (docs/design.md §1, table of kinds). Always one of
 * `Sync`.
 */
export interface SyncRule {
  readonly name: string;
  /**
   * Control planes on which users may write it. With `standalone`, a zone that is not federated may write what `global`
   * writes.
   */
  readonly writtenOn: readonly ('global' | 'zone')[];
  readonly standalone: boolean;
  /**
   * Resources that the global sends to the zones: none, those made on the global, or those of other zones as well: all,
   * those whose export rule allows it, or only policies that the owner of a service made for its clients.
   */
  readonly down: 'nothing' | 'global' | 'everything' | 'exported' | 'producers';
  /** Whether a zone sends it to the global. */
  readonly up: boolean;
  /** Whether the zone of origin is part of the identity. If not, the global's resource wins over a zone's. */
  readonly zoneInIdentity: boolean;
  /**
   * Server-owned spec fields that must be set before a zone sends a resource it made, so that others get it once and
   * complete.
   */
  readonly requiredToSend: readonly string[];
  /** Which peers get it. */
  readonly peers: 'all' | 'causeway' | 'kuma';
}

const rule = (r: Omit<SyncRule, 'requiredToSend'> & Partial<SyncRule>): SyncRule =>
  Object.freeze({ requiredToSend: [], ...r });

/** The legal sync rules, by name. */
export const Sync = {
  /** Mesh: made on the global (or on a zone by itself), known everywhere. */
  meshWide: rule({
    name: 'meshWide',
    writtenOn: ['global'],
    standalone: true,
    down: 'global',
    up: false,
    zoneInIdentity: false,
    peers: 'all',
  }),
  /** MeshMultiZoneService: made on the global only. */
  fromGlobal: rule({
    name: 'fromGlobal',
    writtenOn: ['global'],
    standalone: false,
    down: 'global',
    up: false,
    zoneInIdentity: false,
    peers: 'all',
  }),
  /** Zone: made on the global, sent to Causeway zones only. */
  zoneList: rule({
    name: 'zoneList',
    writtenOn: ['global'],
    standalone: false,
    down: 'global',
    up: false,
    zoneInIdentity: false,
    peers: 'causeway',
  }),
  /** Dataplane, ZoneEgress: made in a zone, sent to the global. */
  toGlobal: rule({
    name: 'toGlobal',
    writtenOn: ['zone'],
    standalone: false,
    down: 'nothing',
    up: true,
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** MeshService: made in a zone, sent to the global and through it to every other zone. */
  acrossZones: rule({
    name: 'acrossZones',
    writtenOn: ['zone'],
    standalone: false,
    down: 'exported',
    up: true,
    requiredToSend: ['state'],
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** HostnameGenerator, MeshExternalService, MeshIdentity, MeshTrust: the global's go to the zones, a zone's own go up and stop there. */
  bothWays: rule({
    name: 'bothWays',
    writtenOn: ['global', 'zone'],
    standalone: false,
    down: 'global',
    up: true,
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** Routes, Gateway, ReferenceGrant: as bothWays, to Causeway peers only, because Kuma's language does not have them. */
  routes: rule({
    name: 'routes',
    writtenOn: ['global', 'zone'],
    standalone: false,
    down: 'global',
    up: true,
    zoneInIdentity: true,
    peers: 'causeway',
  }),
  /** Secrets: the global's go to the zones, filtered; a zone's own stay in it. */
  secrets: rule({
    name: 'secrets',
    writtenOn: ['global', 'zone'],
    standalone: false,
    down: 'global',
    up: false,
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** Role, RoleBinding (docs/design.md §6 Roles), MeshNaming: the global's go to Causeway zones; a zone's own stay in it. */
  roles: rule({
    name: 'roles',
    writtenOn: ['global', 'zone'],
    standalone: false,
    down: 'global',
    up: false,
    zoneInIdentity: true,
    peers: 'causeway',
  }),
  /**
   * Namespace, MeshParameters, ConfigMap, AuthenticationConfiguration: made on the global (or on a zone by itself), sent to
   * Causeway zones only.
   */
  settings: rule({
    name: 'settings',
    writtenOn: ['global'],
    standalone: true,
    down: 'global',
    up: false,
    zoneInIdentity: false,
    peers: 'causeway',
  }),
  /**
   * MeshZoneAddress, ZoneIngress: made in a zone, sent to every other zone. Not exported by rule: where a zone is entered
   * says nothing of its services.
   */
  zoneAddresses: rule({
    name: 'zoneAddresses',
    writtenOn: ['zone'],
    standalone: false,
    down: 'everything',
    up: true,
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** Policies of Kuma zones: only those that a producer made for clients in other zones are relayed, unchanged. */
  relayedPolicies: rule({
    name: 'relayedPolicies',
    writtenOn: [],
    standalone: false,
    down: 'producers',
    up: true,
    zoneInIdentity: true,
    peers: 'kuma',
  }),
  /** Reports of a zone's leader to a global of ours; no user writes them. */
  reports: rule({
    name: 'reports',
    writtenOn: [],
    standalone: false,
    down: 'nothing',
    up: true,
    zoneInIdentity: true,
    peers: 'causeway',
  }),
  /** Insights of proxies: a zone's facts about their connections, sent to the global; no user writes them. */
  insights: rule({
    name: 'insights',
    writtenOn: [],
    standalone: false,
    down: 'nothing',
    up: true,
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** Enrolment: state of a zone's control plane, never sent. */
  local: rule({
    name: 'local',
    writtenOn: [],
    standalone: false,
    down: 'nothing',
    up: false,
    zoneInIdentity: true,
    peers: 'causeway',
  }),
  /** WorkloadRevocation: made by a zone's control plane, sent to every other zone of ours. */
  revocations: rule({
    name: 'revocations',
    writtenOn: [],
    standalone: false,
    down: 'everything',
    up: true,
    zoneInIdentity: true,
    peers: 'causeway',
  }),
} as const;

/** True if resources of one zone are sent to other zones. */
export function crossesZones({ down }: SyncRule): boolean {
  return down === 'everything' || down === 'exported' || down === 'producers';
}
