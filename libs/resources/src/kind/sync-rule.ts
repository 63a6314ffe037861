/** Who may write a kind, and which way it travels (design.md §1 table). One of `Sync`, never built by hand. */
export interface SyncRule {
  readonly name: string;
  /** Where users may write it. A zone by itself may also write what `global` names where `standalone` is set. */
  readonly writtenOn: readonly ('global' | 'zone')[];
  readonly standalone: boolean;
  /**
   * From the global to the zones: nothing, what was made on the global, other zones' resources as well, or of these
   * only policies that the owner of a service made for its clients.
   */
  readonly down: 'nothing' | 'global' | 'everything' | 'producers';
  /** From a zone to the global. */
  readonly up: boolean;
  /** Whether a zone that makes one stands in its identity; else the global's wins over a zone's. */
  readonly zoneInIdentity: boolean;
  /**
   * Spec fields of the control plane that must stand before a zone tells of one it made: others hear of it once, and
   * never of a half of it.
   */
  readonly toldWith: readonly string[];
  /** Who gets it: everybody, or only peers that are Causeway, or only those that are not. */
  readonly peers: 'all' | 'causeway' | 'kuma';
}

const rule = (r: Omit<SyncRule, 'toldWith'> & Partial<SyncRule>): SyncRule => Object.freeze({ toldWith: [], ...r });

/** The legal ways of a kind through the zones, by name. */
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
  /** Namespace, MeshMultiZoneService: made on the global only. */
  fromGlobal: rule({
    name: 'fromGlobal',
    writtenOn: ['global'],
    standalone: false,
    down: 'global',
    up: false,
    zoneInIdentity: false,
    peers: 'all',
  }),
  /** Zone: made on the global, told to Causeway zones only. */
  zoneList: rule({
    name: 'zoneList',
    writtenOn: ['global'],
    standalone: false,
    down: 'global',
    up: false,
    zoneInIdentity: false,
    peers: 'causeway',
  }),
  /** Dataplane: made in a zone, reported to the global. */
  toGlobal: rule({
    name: 'toGlobal',
    writtenOn: ['zone'],
    standalone: false,
    down: 'nothing',
    up: true,
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** MeshService: made in a zone, told to the global and through it to every other zone. */
  acrossZones: rule({
    name: 'acrossZones',
    writtenOn: ['zone'],
    standalone: false,
    down: 'everything',
    up: true,
    toldWith: ['state'],
    zoneInIdentity: true,
    peers: 'all',
  }),
  /** HostnameGenerator, MeshExternalService: the global's go to the zones, a zone's own go up and stop there. */
  bothWays: rule({
    name: 'bothWays',
    writtenOn: ['global', 'zone'],
    standalone: false,
    down: 'global',
    up: true,
    zoneInIdentity: true,
    peers: 'all',
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
  /** What only Kuma zones need of each other: passed on as it came. */
  relayed: rule({
    name: 'relayed',
    writtenOn: [],
    standalone: false,
    down: 'everything',
    up: true,
    zoneInIdentity: true,
    peers: 'kuma',
  }),
  /** Policies of Kuma zones: of those only what its producer made for clients elsewhere is passed on, as it came. */
  relayedPolicies: rule({
    name: 'relayedPolicies',
    writtenOn: [],
    standalone: false,
    down: 'producers',
    up: true,
    zoneInIdentity: true,
    peers: 'kuma',
  }),
} as const;

/** Whether one zone may hear of another's resources of kinds with this rule. */
export function crossesZones({ down }: SyncRule): boolean {
  return down === 'everything' || down === 'producers';
}
