import { isDeepStrictEqual } from 'node:util';
import { findEgressIdentity, isMeshAuthorityKey } from '@causeway/identity';
import { MeshIdentity } from '@causeway/kinds';
import { isJsonObject, isWithdrawn, type Resource } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { NO_READS, type Reads } from '../reads/recorded-reads';
import { egressServerName } from './sni';
import { meshOfAuthority } from './trust-domains';
import { compareAddresses, socketAddress, type SocketAddress } from './ingress-endpoint';

/** The route of a MeshExternalService through the egress of a zone. */
export interface EgressWay {
  /** Identifies the service to the egress. */
  readonly serverName: string;
  /** The SPIFFE id that the egress must have; empty where it can have none, so that no server is accepted. */
  readonly identity: string;
}

/** The effects of index changes on the egress. */
export interface EgressChange {
  /** `all` when the first ZoneEgress came or the last one went; else the meshes in which the egress has another identity. */
  readonly meshes: 'all' | ReadonlySet<string>;
}

/** Maximum number of addresses of an egress; further ones are ignored. */
const MAX_ADDRESSES = 256;

/**
 * The egress of one zone: the union of its ZoneEgresses. As long as one exists, services outside the mesh are reached through it only, even if it is
 * unreachable: otherwise stopping the egress would open the way around it.
 */
export class ZoneEgressTable {
  /** The IP addresses of its listeners, sorted. */
  private listening: readonly SocketAddress[] = [];
  private reached: readonly SocketAddress[] = [];
  private isDeclared = false;
  private readonly identities = new Map<string, string>();

  constructor(
    private readonly index: Pick<IndexReader, 'get' | 'ofKind'>,
    private readonly zone: string,
    private readonly reads: Reads = NO_READS,
  ) {}

  /** The addresses that clients use; those of withdrawn ZoneEgresses only if there is no other. */
  get addresses(): readonly SocketAddress[] {
    this.reads.read('egress');
    return this.reached;
  }

  load(): void {
    this.identities.clear();
    const own = [...this.index.ofKind('ZoneEgress')].filter(({ id }) => id.zone === this.zone);
    this.isDeclared = own.length > 0;
    const serving = listAddresses(own.filter((each) => !isWithdrawn(each)));
    this.listening = listAddresses(own);
    this.reached = (serving.length > 0 ? serving : this.listening).slice(0, MAX_ADDRESSES);
  }

  refresh(changes: readonly IndexChange[]): EgressChange {
    const meshes = new Set<string>();
    for (const mesh of new Set(changes.map(meshOfIdentity))) {
      const before = mesh === undefined ? undefined : this.identities.get(mesh);
      if (mesh === undefined || before === undefined) continue;
      this.identities.delete(mesh);
      if (this.getIdentity(mesh) === before) continue;
      meshes.add(mesh);
      this.reads.changed(`egress-identity ${mesh}`);
    }
    if (!changes.some(({ id }) => id.kind === 'ZoneEgress' && id.zone === this.zone)) return { meshes };
    const { isDeclared, reached, listening } = this;
    const known = new Map(this.identities);
    this.load();
    for (const [mesh, identity] of known) this.identities.set(mesh, identity);
    if (!isDeepStrictEqual([reached, listening], [this.reached, this.listening])) this.reads.changed('egress');
    return { meshes: isDeclared === this.isDeclared ? meshes : 'all' };
  }

  /**
   * Returns the route through the egress; undefined if no egress is declared and proxies connect to the service directly. `name`: of the destination.
   */
  findRoute(mesh: string, name: string): EgressWay | undefined {
    if (!this.isDeclared) return undefined;
    return { serverName: egressServerName(mesh, name), identity: this.getIdentity(mesh) };
  }

  /** Returns the SPIFFE id of the egress in a mesh; empty where it has none. */
  getIdentity(mesh: string): string {
    this.reads.read(`egress-identity ${mesh}`);
    let identity = this.identities.get(mesh);
    if (identity === undefined) {
      identity = findEgressIdentity(this.index, { mesh, zone: this.zone })?.uri ?? '';
      this.identities.set(mesh, identity);
    }
    return identity;
  }
}

/** Returns the mesh in which a change may give the egress another identity; undefined for other changes. */
function meshOfIdentity(change: IndexChange): string | undefined {
  const { id } = change;
  return id.kind === MeshIdentity.name || isMeshAuthorityKey(id) ? id.mesh : meshOfAuthority(change);
}

function listAddresses(egresses: readonly Resource[]): readonly SocketAddress[] {
  const found = new Map<string, SocketAddress>();
  for (const { spec } of egresses) {
    const { address, port } = isJsonObject(spec['networking']) ? spec['networking'] : {};
    const at = socketAddress(address, port);
    if (at) found.set(`${at.address} ${at.port}`, at);
  }
  return [...found.values()].sort(compareAddresses);
}
