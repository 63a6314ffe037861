import { FieldPath, Invalid, NotFound, type ControlPlane } from '@causeway/resources';
import type { ResourceIndex } from '@causeway/store';
import { ClaimsView } from './claims-view';
import { explainHostname, type HostnameExplanation, type HostnameQuestion } from './explain-hostname';
import { explainReported } from './reported-hostnames';

/** A question, and whose view is asked for. */
export type ViewedQuestion = HostnameQuestion & { readonly zone?: string };

/**
 * Answers questions about hostnames on either kind of control plane (design.md §4): a zone of itself, from its claims;
 * the global of the zone that is asked for, from what that reported.
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

  /** Throws Invalid when the zone is missing on the global or another on a zone, NotFound when there is no such zone. */
  explain({ zone, mesh, hostname }: ViewedQuestion): HostnameExplanation {
    if (this.cp.role === 'zone' && this.claims) {
      if (zone !== undefined && zone !== this.cp.zone)
        throw refused(`must be "${this.cp.zone}" or left out here; got "${zone}"`);
      return explainHostname(this.claims.table, { mesh, hostname });
    }
    if (zone === undefined || zone === '') throw refused('must name the zone whose view is asked for');
    const id = { kind: 'Zone', mesh: '', zone: '', namespace: '', name: zone };
    if (!this.index.get(id)) throw new NotFound(`there is no zone "${zone}"`);
    return explainReported(this.index, zone, { mesh, hostname });
  }

  /** Stops following the index. */
  close(): void {
    this.claims?.close();
  }
}

function refused(reason: string): Invalid {
  return new Invalid([FieldPath.at('zone').violation(reason)]);
}
