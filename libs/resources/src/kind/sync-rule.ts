/**
 * Writers of a kind, and the directions in which it is synced (docs/design.md §1, table of kinds). Always a value of
 * `Sync`.
 */
export interface SyncRule {
  readonly name: string;
  /**
   * Control planes on which users may write it. `standalone`: a zone that is not federated may write kinds of `global`.
   */
  readonly writtenOn: readonly ('global' | 'zone')[];
  readonly standalone: boolean;
  /**
   * Resources that the global sends to zones: none, those created on the global, those of other zones as well (all, or
   * those whose export rule allows it), or only policies that a service owner made for its clients.
   */
  readonly down: 'nothing' | 'global' | 'everything' | 'exported' | 'producers';
  /** Whether a zone sends it to the global. */
  readonly up: boolean;
  /** Whether the zone of origin is part of the identity. If not, the global's resource replaces a zone's. */
  readonly zoneInIdentity: boolean;
  /**
   * Server-owned spec fields that must be set before a zone sends its resource, so that others receive it once and
   * complete.
   */
  readonly requiredToSend: readonly string[];
  /** Peers that receive it. */
  readonly peers: 'all' | 'causeway' | 'kuma';
}

const rule = (r: Omit<SyncRule, 'requiredToSend'> & Partial<SyncRule>): SyncRule =>
  Object.freeze({ requiredToSend: [], ...r });

/** All sync rules, by name. */
export const Sync = {
  /** Mesh: created on the global (or on a zone that is not federated), sent to all zones. */
  meshWide: rule({
    name: 'meshWide',
    writtenOn: ['global'],
    standalone: true,
    down: 'global',
    up: false,
    zoneInIdentity: false,
    peers: 'all',
  }),
  /** MeshMultiZoneService: created on the global only. */
  fromGlobal: rule({
    name: 'fromGlobal',
    writtenOn: ['global'],
    standalone: false,
    down: 'global',
    up: false,
    zoneInIdentity: false,
    peers: 'all',
  }),
  /** Zone: created on the global, sent to Causeway zones only. */
  zoneList: rule({
    name: 'zoneList',
    writtenOn: ['global'],
    standalone: false,
    down: 'global',
    up: false,
    zoneInIdentity: false,
    peers: 'causeway',
  }),
  /** Dataplane, ZoneEgress: created in a zone, sent to the global. */
  toGlobal: rule({
    name: 'toGlobal',
    writtenOn: ['zone'],
    standalone: false,
    down: 'nothing',
    up: true,
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** MeshService: created in a zone, sent to the global and from there to every other zone. */
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
  /** HostnameGenerator, MeshExternalService, MeshIdentity, MeshTrust: the global's are sent to the zones; a zone's own are sent to the global only. */
  bothWays: rule({
    name: 'bothWays',
    writtenOn: ['global', 'zone'],
    standalone: false,
    down: 'global',
    up: true,
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** Routes, Gateway, ReferenceGrant: like bothWays, but to Causeway peers only, because Kuma does not have these kinds. */
  routes: rule({
    name: 'routes',
    writtenOn: ['global', 'zone'],
    standalone: false,
    down: 'global',
    up: true,
    zoneInIdentity: true,
    peers: 'causeway',
  }),
  /** Secrets: the global's are sent to the zones, filtered; a zone's own stay there. */
  secrets: rule({
    name: 'secrets',
    writtenOn: ['global', 'zone'],
    standalone: false,
    down: 'global',
    up: false,
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** Role, RoleBinding (docs/design.md §6 Roles), MeshNaming: the global's are sent to Causeway zones; a zone's own stay there. */
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
   * Namespace, MeshParameters, ConfigMap, AuthenticationConfiguration: created on the global (or on a zone that is not
   * federated), sent to Causeway zones only.
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
   * MeshZoneAddress, ZoneIngress: created in a zone, sent to every other zone. No export rule applies: the address of a
   * zone reveals nothing about its services.
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
  /** Reports of a zone's leader to a Causeway global; users cannot write them. */
  reports: rule({
    name: 'reports',
    writtenOn: [],
    standalone: false,
    down: 'nothing',
    up: true,
    zoneInIdentity: true,
    peers: 'causeway',
  }),
  /** Insights of proxies: status of a zone's proxy connections, sent to the global; users cannot write them. */
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
  /** WorkloadRevocation: created by a zone's control plane, sent to every other Causeway zone. */
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
