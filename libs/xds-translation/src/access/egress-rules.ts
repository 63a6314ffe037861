import { createHash } from 'node:crypto';
import type { AccessRules } from '@causeway/policies';
import type { AccessTable } from './inbound-access';
import type { DestinationConfig } from '../model/destination';
import type { InboundRules } from './inbound-rules';

/** Services outside the mesh, by their server names at the egress, that share one set of callers. */
export interface RuledServices {
  /** Changes with the rules and with the list of services, so that connections of one group are never taken for connections of another. */
  readonly id: string;
  readonly rules: AccessRules;
  readonly serverNames: readonly string[];
}

/** The number of parts into which services with equal rules are divided by name: a service that comes or goes changes its own part only. */
const PARTS = 16;

/**
 * The access rules of AccessPolicies for services outside the mesh that are reached through the zone's egress. While the policy table is behind the
 * index, a service keeps its rules; the rules of a service that is new or changed in that time are `unknown`, and nobody may call it.
 */
export class EgressRules {
  private readonly last = new WeakMap<DestinationConfig, AccessRules | 'none'>();
  private readonly ids = new WeakMap<AccessRules, string>();

  constructor(
    private readonly rules: Pick<InboundRules, 'ofService'>,
    private readonly access: Pick<AccessTable, 'ofEgress'>,
  ) {}

  /** Returns the rules of a service; undefined where no policy targets it, so that the mesh's default holds. */
  of(destination: DestinationConfig): AccessRules | undefined | 'unknown' {
    const { service, port } = destination;
    const isOpen = this.access.ofEgress(service.mesh)?.callers === 'anyone';
    const found = this.rules.ofService({ service, port }, isOpen ? 'Allow' : 'Deny');
    if (found !== 'pending') this.last.set(destination, found ?? 'none');
    const last = this.last.get(destination);
    return last === 'none' ? undefined : (last ?? 'unknown');
  }

  /** Groups the services that policies target by mesh, and within a mesh by equal rules. Linear in the services. */
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

/** Sorts the parts, so that equal rules are encoded to equal bytes. */
function inOrder(parts: ReadonlyMap<string, EgressRulePart>): readonly RuledServices[] {
  return [...parts]
    .map(([key, { rules, serverNames }]) => {
      const sorted = [...serverNames].sort();
      return { id: computeHash([key, ...sorted].join(' ')), rules, serverNames: sorted };
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns a prefix of a SHA-256 in hexadecimal digits, long enough that nobody finds a second text with the same prefix. */
export function computeHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
