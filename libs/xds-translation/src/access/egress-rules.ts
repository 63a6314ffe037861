import { createHash } from 'node:crypto';
import type { AccessRules } from '@causeway/policies';
import type { AccessTable } from './inbound-access';
import type { DestinationConfig } from '../model/destination';
import type { InboundRules } from './inbound-rules';

/** Services outside the mesh, by their server names at the egress, and who may call them: the same of all. */
export interface RuledServices {
  /** Others where the rules or the services are others: connections of the one are never taken for those of the other. */
  readonly id: string;
  readonly rules: AccessRules;
  readonly serverNames: readonly string[];
}

/** Parts of the services with equal rules, by their names: one that comes or goes makes its own part another, and no other. */
const PARTS = 16;

/**
 * What AccessPolicies say of services outside the mesh that are reached through the zone's egress. While the table of policies does not
 * hold all that the index does a service keeps its rules, and of one that came or changed meanwhile they are `unknown`: nobody may call it.
 */
export class EgressRules {
  private readonly last = new WeakMap<DestinationConfig, AccessRules | 'none'>();
  private readonly ids = new WeakMap<AccessRules, string>();

  constructor(
    private readonly rules: Pick<InboundRules, 'ofService'>,
    private readonly access: Pick<AccessTable, 'ofEgress'>,
  ) {}

  /** Undefined where no policy says anything of the service, so that the mesh's default holds. */
  of(destination: DestinationConfig): AccessRules | undefined | 'unknown' {
    const { service, port } = destination;
    const isOpen = this.access.ofEgress(service.mesh)?.callers === 'anyone';
    const found = this.rules.ofService({ service, port }, isOpen ? 'Allow' : 'Deny');
    if (found !== 'pending') this.last.set(destination, found ?? 'none');
    const last = this.last.get(destination);
    return last === 'none' ? undefined : (last ?? 'unknown');
  }

  /** Those of these services that policies decide about, by mesh: together where rules are equal. Linear in the services. */
  group(destinations: Iterable<DestinationConfig>): ReadonlyMap<string, readonly RuledServices[]> {
    const meshes = new Map<string, Map<string, EgressRulePart>>();
    for (const each of destinations) {
      const rules = this.of(each);
      if (rules === undefined || rules === 'unknown' || !each.egress) continue;
      const { serverName } = each.egress;
      const parts = meshes.get(each.service.mesh) ?? new Map<string, EgressRulePart>();
      meshes.set(each.service.mesh, parts);
      const key = `${this.formatRulesId(rules)} ${Number.parseInt(computeHash(serverName).slice(0, 8), 16) % PARTS}`;
      const part = parts.get(key) ?? { rules, serverNames: [] };
      parts.set(key, part);
      part.serverNames.push(serverName);
    }
    return new Map([...meshes].map(([mesh, parts]) => [mesh, inOrder(parts)]));
  }

  private formatRulesId(rules: AccessRules): string {
    const known = this.ids.get(rules) ?? computeHash(JSON.stringify(rules));
    this.ids.set(rules, known);
    return known;
  }
}

interface EgressRulePart {
  readonly rules: AccessRules;
  readonly serverNames: string[];
}

/** So that equal rules are equal bytes. */
function inOrder(parts: ReadonlyMap<string, EgressRulePart>): readonly RuledServices[] {
  return [...parts]
    .map(([key, { rules, serverNames }]) => {
      const sorted = [...serverNames].sort();
      return { id: computeHash([key, ...sorted].join(' ')), rules, serverNames: sorted };
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** So much of a SHA-256 that nobody finds another text with it, as hexadecimal digits. */
export function computeHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
