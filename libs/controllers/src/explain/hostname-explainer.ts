import type { ClaimTable } from '@causeway/naming';
import { FieldPath, Invalid, NotFound, type ControlPlane } from '@causeway/resources';
import type { ResourceIndex } from '@causeway/store';
import { ClaimsView } from './claims-view';
import { dryRunGenerator, type DryRunSource, type GeneratorDryRun } from './dry-run-generator';
import {
  explainHostname,
  listHostnames,
  type HostnameExplanation,
  type HostnamePage,
  type HostnameQuestion,
} from './explain-hostname';
import { explainReported, reportedHostnames, type ReportedHostname } from './reported-hostnames';
import { claimsOfZone } from './zone-view';

/** Whose view is asked for: required on the global, on a zone its own or left out. */
export interface ViewOf {
  readonly zone?: string;
}

/** A question about one hostname, and whose view is asked for. */
export type ViewedQuestion = HostnameQuestion & ViewOf;

/** A mesh, whose view of it, and which part of the list. */
export type ViewedList = HostnamePage & ViewOf & { readonly mesh: string };

/**
 * Answers questions about hostnames on either kind of control plane (design.md §4): a zone of itself, from its claims;
 * the global of the zone that is asked for, from what that reported. Every answer throws Invalid when the zone is
 * missing on the global or another one on a zone, NotFound when there is no such zone.
 */
export class HostnameExplainer {
  /** The claims of this zone; undefined on the global. */
  readonly claims: ClaimsView | undefined;

  constructor(
    private readonly index: ResourceIndex,
    private readonly cp: ControlPlane,
  ) {
    this.claims = cp.role === 'zone' ? new ClaimsView(index, cp) : undefined;
  }

  /** Who claims a hostname, who has it, and why. */
  explain({ zone, ...question }: ViewedQuestion): HostnameExplanation {
    const viewed = this.viewed(zone);
    return this.claims ? explainHostname(this.claims.table, question) : explainReported(this.index, viewed, question);
  }

  /** The hostnames of a mesh in the order of the alphabet, with all claims on each. */
  list({ zone, mesh, ...page }: ViewedList): readonly ReportedHostname[] {
    const viewed = this.viewed(zone);
    if (this.claims) return listHostnames(this.claims.table, mesh, page);
    const { after = '', limit = Infinity } = page;
    const reported = reportedHostnames(this.index, { zone: viewed, mesh });
    return reported.filter(({ hostname }) => hostname > after).slice(0, limit);
  }

  /** What a generator would do; on the global in the zone that is named. Writes nothing. */
  dryRun(source: DryRunSource, zone?: string): GeneratorDryRun {
    const viewed = this.viewed(zone);
    const table: ClaimTable = this.claims?.table ?? claimsOfZone(this.index, viewed);
    return dryRunGenerator(table, source);
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
    const id = { kind: 'Zone', mesh: '', zone: '', namespace: '', name: zone };
    if (!this.index.get(id)) throw new NotFound(`there is no zone "${zone}"`);
    return zone;
  }
}

function refused(reason: string): Invalid {
  return new Invalid([FieldPath.at('zone').violation(reason)]);
}
