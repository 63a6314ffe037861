import { toAccessTarget, type CallerRights } from '@causeway/access';
import type { Fold, Policy, PolicyPath, PathNode, ScopeState, Strategy } from '@causeway/policies';
import type { Identity, JsonObject } from '@causeway/resources';

/** A policy as every reader of what it affects sees it: its name and kind, nothing of the object (T004-41). */
export interface PolicyName {
  readonly group: string;
  readonly kind: string;
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
}

/** A node of a path. What the caller may not read is shown by its level and kind alone. */
export interface NodeAnswer {
  readonly level: string;
  readonly kind?: string;
  readonly zone?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** A port, a rule, a listener. */
  readonly section?: string;
}

/** Source of one value of an effective spec. */
interface FieldAnswer {
  /** A JSON pointer (RFC 6901). */
  readonly field: string;
  readonly policy: PolicyName;
  readonly strategy: Strategy;
}

/** Effective policy. */
export interface EffectiveAnswer {
  readonly effective: JsonObject;
  /** The effective spec as JSON text, where that was asked for (T004-59). */
  readonly representation?: string;
  /** One for each value of the effective spec. */
  readonly fields: readonly FieldAnswer[];
}

/** One policy where others meet it. */
export interface PolicyOnPath {
  readonly policy: PolicyName;
  readonly strategy: Strategy;
  readonly state: ScopeState;
  /** Of its own values, as JSON pointers. */
  readonly enforced: readonly string[];
  readonly superseded: readonly string[];
}

/** A path, and whose requests take it. */
export interface PathAnswer {
  readonly context: string;
  /** The least specific node first. */
  readonly path: readonly NodeAnswer[];
}

/** Effective policy of one kind on one path. */
export interface PathPolicies extends PathAnswer, EffectiveAnswer {
  readonly group: string;
  readonly kind: string;
  /** The least specific first. */
  readonly policies: readonly PolicyOnPath[];
}

/** One path on which a policy stands. */
export interface ScopeAnswer extends PathAnswer, Omit<PolicyOnPath, 'policy'> {
  readonly effective: JsonObject;
  /** The other policies on the path, the least specific first. */
  readonly others: readonly Omit<PolicyOnPath, 'enforced' | 'superseded'>[];
}

/** A path that a change would change; without `before` or `after` no policy is on it then. */
export interface ImpactAnswer extends PathAnswer {
  readonly before?: EffectiveAnswer;
  readonly after?: EffectiveAnswer;
}

/** Writes answers for one caller. */
export class AnswerWriter {
  constructor(
    private readonly rights: CallerRights,
    private readonly groups: (kind: string) => string,
    private readonly representation: boolean = false,
  ) {}

  path({ group, nodes }: PolicyPath): PathAnswer {
    return { context: group, path: nodes.map((node) => this.node(node)) };
  }

  node({ level, key, id, namespace, section }: PathNode): NodeAnswer {
    const part = section === undefined ? {} : { section };
    if (level === 'Mesh') return { level, kind: 'Mesh', name: key.replace('mesh ', '') };
    if (level === 'Namespace') return { level, kind: 'Namespace', name: namespace };
    if (!id) return { level };
    if (level !== 'Virtual' && !this.rights.may('get', toAccessTarget(id))) return { level, kind: id.kind };
    return { level, kind: id.kind, zone: id.zone, namespace: id.namespace, name: id.name, ...part };
  }

  policy({ kind, mesh, zone, namespace, name }: Identity): PolicyName {
    return { group: this.groups(kind), kind, mesh, zone, namespace, name };
  }

  effective(fold: Fold): EffectiveAnswer {
    const byKey = new Map(fold.policies.map((policy) => [policy.key, policy]));
    const fields = [...fold.sources].flatMap(([field, { policy: key, strategy }]) => {
      const policy = byKey.get(key);
      return policy ? [{ field, policy: this.policy(policy.id), strategy }] : [];
    });
    const text = this.representation ? { representation: JSON.stringify(fold.spec) } : {};
    return { effective: fold.spec, ...text, fields };
  }

  onPath(fold: Fold, policy: Policy): PolicyOnPath {
    const { enforced, superseded } = fold.fieldsOf(policy);
    return {
      policy: this.policy(policy.id),
      strategy: policy.strategy,
      state: fold.stateOf(policy),
      enforced,
      superseded,
    };
  }

  pathPolicies(kind: string, path: PolicyPath, fold: Fold): PathPolicies {
    return {
      group: this.groups(kind),
      kind,
      ...this.path(path),
      ...this.effective(fold),
      policies: fold.policies.map((policy) => this.onPath(fold, policy)),
    };
  }

  scope(own: Policy, path: PolicyPath, fold: Fold): ScopeAnswer {
    const { policy: _, ...scope } = this.onPath(fold, own);
    const others = fold.policies
      .filter(({ key }) => key !== own.key)
      .map((policy) => ({
        policy: this.policy(policy.id),
        strategy: policy.strategy,
        state: fold.stateOf(policy),
      }));
    return { ...this.path(path), ...scope, effective: fold.spec, others };
  }

  impact(path: PolicyPath, before: Fold | undefined, after: Fold | undefined): ImpactAnswer {
    return {
      ...this.path(path),
      ...(before ? { before: this.effective(before) } : {}),
      ...(after ? { after: this.effective(after) } : {}),
    };
  }
}
