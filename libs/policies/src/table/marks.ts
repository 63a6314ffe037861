/**
 * What a change may have changed: effective specs in contexts of frontends (clients' side) and of services' own backends, with keys of
 * identities as in routing's `Affected`, and the policies whose status may differ.
 */
export interface PoliciesAffected {
  readonly rules: readonly { readonly kind: string; readonly frontend: string; readonly group: string }[];
  /** `consumer` is the namespace whose clients alone are meant, where a policy of theirs made a view of its own. */
  readonly backends: readonly { readonly kind: string; readonly service: string; readonly consumer?: string }[];
  readonly policies: readonly string[];
}

export const NOTHING_AFFECTED: PoliciesAffected = { rules: [], backends: [], policies: [] };

/** Collects what one change touches, or several done as one. */
export class PolicyMarks {
  private readonly rules = new Map<string, PoliciesAffected['rules'][number]>();
  private readonly backends = new Map<string, PoliciesAffected['backends'][number]>();
  readonly policies = new Set<string>();

  markRule(kind: string, frontend: string, group: string): void {
    this.rules.set(`${kind} ${frontend} ${group}`, { kind, frontend, group });
  }

  markBackend(kind: string, service: string, consumer: string | undefined): void {
    this.backends.set(`${kind} ${service} ${consumer ?? ''}`, {
      kind,
      service,
      ...(consumer !== undefined && { consumer }),
    });
  }

  get affected(): PoliciesAffected {
    const { rules, backends, policies } = this;
    return { rules: [...rules.values()], backends: [...backends.values()], policies: [...policies] };
  }
}
