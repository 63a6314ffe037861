import { toAccessTarget, type CallerRights } from '@causeway/access';
import type { Fold, Policy, PolicyPath, PathNode } from '@causeway/policies';
import type {
  EffectivePolicy,
  ImpactOnPath,
  PathNode as NodeAnswer,
  PathPolicies,
  PolicyName,
  PolicyOnPath,
  PolicyScope,
} from '@causeway/api';
import type { Identity } from '@causeway/resources';

/** A path, and the clients whose requests take it. */
type PathAnswer = Pick<PathPolicies, 'context' | 'path'>;

/** Builds responses for one caller. */
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

  effective(fold: Fold): EffectivePolicy {
    const byKey = new Map(fold.policies.map((policy) => [policy.key, policy]));
    const fields = [...fold.sources].flatMap(([field, { policy: key, strategy }]) => {
      const policy = byKey.get(key);
      return policy ? [{ field, policy: this.policy(policy.id), strategy }] : [];
    });
    const text = this.representation ? { representation: JSON.stringify(fold.spec) } : {};
    return { effective: fold.spec, ...text, fields };
  }

  onPath(fold: Fold, policy: Policy): PolicyOnPath {
    const { enforced, superseded } = fold.getScopeFields(policy);
    return {
      policy: this.policy(policy.id),
      strategy: policy.strategy,
      state: fold.getScopeState(policy),
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

  scope(own: Policy, path: PolicyPath, fold: Fold): PolicyScope {
    const { policy: _, ...scope } = this.onPath(fold, own);
    const others = fold.policies
      .filter(({ key }) => key !== own.key)
      .map((policy) => ({
        policy: this.policy(policy.id),
        strategy: policy.strategy,
        state: fold.getScopeState(policy),
      }));
    return { ...this.path(path), ...scope, effective: fold.spec, others };
  }

  impact(path: PolicyPath, before: Fold | undefined, after: Fold | undefined): ImpactOnPath {
    return {
      ...this.path(path),
      ...(before ? { before: this.effective(before) } : {}),
      ...(after ? { after: this.effective(after) } : {}),
    };
  }
}
