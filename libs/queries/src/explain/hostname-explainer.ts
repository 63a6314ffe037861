import type { GeneratorDryRun, HostnameEntry, HostnameExplanation } from '@causeway/api';
import { FieldPath, globalIdentity, Invalid, NotFound, type ControlPlane } from '@causeway/resources';
import type { SortedPage } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import type { ServedMeshes } from '@causeway/controllers';
import { ClaimsView, claimsOfZone, type HeldByGlobal } from './claims-view';
import { dryRunGenerator, type DryRunSource } from './dry-run-generator';
import { explainHostname, listHostnames, type HostnamePage, type HostnameRef } from './explain-hostname';
import { listReported, reportedEntry, withReports } from './reported-hostnames';

/** The zone whose view is requested: required on the global; in a zone its own name, or absent. */
interface ZoneOfView {
  readonly zone?: string;
}

/** A hostname, and the zone whose view of it is requested. */
export type ZonedHostnameRef = HostnameRef & ZoneOfView;

/**
 * Explains hostnames on both kinds of control plane (docs/design.md §4): a zone from its own claims, the global from
 * the claims that the zone would have from the global's resources. Every method rejects with Invalid if the global is
 * given no zone or a zone is given another one, with NotFound if the zone does not exist, and with the reason of the
 * signal if that aborts.
 */
export class HostnameExplainer {
  /** The claims of this zone; undefined on the global. */
  private readonly claims: ClaimsView | undefined;
  private readonly held: HeldByGlobal;

  constructor(
    private readonly index: IndexReader,
    private readonly cp: ControlPlane,
    meshes?: ServedMeshes,
  ) {
    this.held = { index, meshes };
    this.claims = cp.role === 'zone' ? new ClaimsView(index, cp, meshes) : undefined;
  }

  /** Explains which services claim a hostname, which has it, and why. */
  async explain({ zone, ...question }: ZonedHostnameRef, signal: AbortSignal): Promise<HostnameExplanation> {
    const zoneOf = this.viewed(zone);
    if (this.claims) return this.ofMesh(await explainHostname(await this.claims.table(signal), question, signal));
    const table = await claimsOfZone(this.held, zoneOf, signal);
    return this.ofMesh(withReports(this.index, await explainHostname(table, question, signal)));
  }

  /** Returns the explanation; if another controller owns the mesh, with a hint (row T000-07). */
  private ofMesh(explained: HostnameExplanation): HostnameExplanation {
    const { mesh } = explained;
    const { claim, resource } = this.held.meshes?.state(mesh) ?? {};
    if (claim !== 'foreign') return explained;
    const owner = resource?.spec.controllerName ?? '';
    const hint = `Mesh "${mesh}" belongs to the controller "${owner}": its services get no hostname and no new address here`;
    return { ...explained, hints: [hint] };
  }

  /**
   * Lists the hostnames that services claim in a mesh: in a zone by its own claims; on the global as the zones reported
   * them, or with `page.zone` by the claims that the zone would have.
   */
  async list(mesh: string, page: HostnamePage, signal: AbortSignal): Promise<SortedPage<HostnameEntry>> {
    if (!this.claims && page.zone === undefined) return listReported(this.index, mesh, page, signal);
    const zone = this.viewed(page.zone);
    if (this.claims) return listHostnames(await this.claims.table(signal), mesh, page, signal);
    const found = await listHostnames(await claimsOfZone(this.held, zone, signal), mesh, page, signal);
    return { ...found, items: found.items.map((entry) => reportedEntry(this.index, zone, entry)) };
  }

  /** Computes a generator's effect, on the global for the named zone. Writes nothing. */
  async dryRun(source: DryRunSource, zone: string | undefined, signal: AbortSignal): Promise<GeneratorDryRun> {
    const viewed = this.viewed(zone);
    const table = await (this.claims?.table(signal) ?? claimsOfZone(this.held, viewed, signal));
    return dryRunGenerator(table, source, signal);
  }

  /** Stops following the index. */
  close(): void {
    this.claims?.close();
  }

  private viewed(zone: string | undefined): string {
    if (this.cp.role === 'zone') {
      const own = this.cp.zone;
      if (zone === undefined || zone === own) return own;
      throw refused(`must be "${own}" or left out here; got "${zone}"`);
    }
    if (zone === undefined || zone === '') throw refused('must name the zone whose view is asked for');
    const id = globalIdentity('Zone', zone);
    if (!this.index.get(id)) throw new NotFound(`there is no zone "${zone}"`);
    return zone;
  }
}

function refused(reason: string): Invalid {
  return new Invalid([FieldPath.at('zone').violation(reason)]);
}
