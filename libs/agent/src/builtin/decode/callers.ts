import { type NetworkRbac, type Principal, RBAC_Action } from '@causeway/proto-gen';
import { UnsupportedConfig } from './unsupported-config';

/** Whether a caller may call: one with these verified SPIFFE ids, or none without an identity. */
export type CallerRule = (ids: readonly string[]) => boolean;

/** The rule of an access filter. Everything that it may say is obeyed; a principal that is not known is an error, not a pass. */
export function callerRule({ rules, matcher }: NetworkRbac): CallerRule {
  if (matcher) throw new UnsupportedConfig('matcher', 'access by a matcher is not known');
  if (!rules) return () => true;
  if (rules.action === RBAC_Action.LOG) return () => true;
  const policies = Object.values(rules.policies).map(({ permissions, principals }) => {
    const isPlain = permissions.every(({ rule }) => rule?.$case === 'any' && rule.value);
    if (permissions.length === 0 || !isPlain) throw new UnsupportedConfig('permissions', 'are not "any"');
    const allowed = principals.map(principalRule);
    return (ids: readonly string[]) => allowed.some((rule) => rule(ids));
  });
  const isAllow = rules.action === RBAC_Action.ALLOW;
  return (ids) => policies.some((policy) => policy(ids)) === isAllow;
}

function principalRule({ identifier }: Principal): CallerRule {
  switch (identifier?.$case) {
    case 'any':
      return () => identifier.value;
    case 'authenticated': {
      const name = identifier.value.principalName?.matchPattern;
      if (!name) return (ids) => ids.length > 0;
      if (name.$case === 'exact') return (ids) => ids.includes(name.value);
      if (name.$case === 'prefix') return (ids) => ids.some((id) => id.startsWith(name.value));
      throw new UnsupportedConfig('principalName', `${name.$case} is not known`);
    }
    case 'andIds': {
      const all = identifier.value.ids.map(principalRule);
      return (ids) => all.every((rule) => rule(ids));
    }
    case 'orIds': {
      const any = identifier.value.ids.map(principalRule);
      return (ids) => any.some((rule) => rule(ids));
    }
    case 'notId': {
      const rule = principalRule(identifier.value);
      return (ids) => !rule(ids);
    }
    default:
      throw new UnsupportedConfig('principals', `${identifier?.$case ?? 'nothing'} is not known`);
  }
}
