import { type HttpRbac, type NetworkRbac, type Principal, RBAC_Action } from '@causeway/proto-gen';
import { UNCLEAR_PATHS } from '@causeway/xds-translation';
import { matcherRule } from './matcher-rule';
import type { CallerRule } from './verified-caller';
import { UnsupportedConfig } from './unsupported-config';

/** Decodes the rule of an access filter. All of it is enforced; an unknown principal is an error, never a pass. */
export function callerRule({ rules, matcher }: Pick<NetworkRbac, 'rules' | 'matcher'>): CallerRule {
  if (matcher) return matcherRule(matcher);
  const { allows, isOfRequests } = connectionRule({ rules, matcher });
  if (isOfRequests) throw new UnsupportedConfig('permissions', 'are not "any"');
  return allows;
}

/**
 * The rule of an access filter for a connection whose requests are not seen: what it denies some requests is denied, what it allows some
 * requests only is not allowed. `isOfRequests`: there is such a rule. A path that could be read in two ways is denied only together
 * with rules that name paths.
 */
export function connectionRule({ rules, matcher }: Pick<HttpRbac, 'rules' | 'matcher'>): {
  readonly allows: CallerRule;
  readonly isOfRequests: boolean;
} {
  if (matcher) throw new UnsupportedConfig('matcher', 'access by a matcher is not known');
  if (!rules || rules.action === RBAC_Action.LOG) return { allows: () => true, isOfRequests: false };
  const isAllow = rules.action === RBAC_Action.ALLOW;
  const policies = Object.entries(rules.policies).flatMap(([name, { permissions, principals }]) => {
    const takesAll = permissions.some(({ rule }) => rule?.$case === 'any' && rule.value);
    const callers = principals.map(principalRule);
    const fits: CallerRule = (caller) => callers.some((rule) => rule(caller));
    return name === UNCLEAR_PATHS ? [] : [{ fits, takesAll }];
  });
  const counted = policies.filter(({ takesAll }) => takesAll || !isAllow);
  return {
    allows: (caller) => counted.some(({ fits }) => fits(caller)) === isAllow,
    isOfRequests: policies.some(({ takesAll }) => !takesAll),
  };
}

function principalRule({ identifier }: Principal): CallerRule {
  switch (identifier?.$case) {
    case 'any':
      return () => identifier.value;
    case 'authenticated': {
      const name = identifier.value.principalName?.matchPattern;
      if (!name) return ({ ids }) => ids.length > 0;
      if (name.$case === 'exact') return ({ ids }) => ids.includes(name.value);
      if (name.$case === 'prefix') return ({ ids }) => ids.some((id) => id.startsWith(name.value));
      throw new UnsupportedConfig('principalName', `${name.$case} is not known`);
    }
    case 'andIds': {
      const all = identifier.value.ids.map(principalRule);
      return (caller) => all.every((rule) => rule(caller));
    }
    case 'orIds': {
      const any = identifier.value.ids.map(principalRule);
      return (caller) => any.some((rule) => rule(caller));
    }
    case 'notId': {
      const rule = principalRule(identifier.value);
      return (caller) => !rule(caller);
    }
    default:
      throw new UnsupportedConfig('principals', `${identifier?.$case ?? 'nothing'} is not known`);
  }
}
