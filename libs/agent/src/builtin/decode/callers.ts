import { type HttpRbac, type NetworkRbac, type Principal, RBAC_Action } from '@causeway/proto-gen';
import { UNCLEAR_PATHS } from '@causeway/xds-translation';
import { decodeMatcherRule } from './matcher-rule';
import type { CallerRule } from './verified-caller';
import { UnsupportedConfig } from './unsupported-config';

/** Decodes an access filter (RBAC) completely; an unknown principal is an error, never a match. */
export function decodeCallerRule({ rules, matcher }: Pick<NetworkRbac, 'rules' | 'matcher'>): CallerRule {
  if (matcher) return decodeMatcherRule(matcher);
  const { allows, dependsOnRequest } = decodeConnectionRule({ rules, matcher });
  if (dependsOnRequest) throw new UnsupportedConfig('permissions', 'are not "any"');
  return allows;
}

/**
 * Decodes an HTTP access filter for connections whose requests are not parsed: a caller is denied if any of its
 * requests is denied, or if only some are allowed. `dependsOnRequest`: such a rule exists. The policy against ambiguous
 * paths is skipped: it applies only together with rules that match paths.
 */
export function decodeConnectionRule({ rules, matcher }: Pick<HttpRbac, 'rules' | 'matcher'>): {
  readonly allows: CallerRule;
  readonly dependsOnRequest: boolean;
} {
  if (matcher) throw new UnsupportedConfig('matcher', 'access by a matcher is not known');
  if (!rules || rules.action === RBAC_Action.LOG) return { allows: () => true, dependsOnRequest: false };
  const isAllow = rules.action === RBAC_Action.ALLOW;
  const policies = Object.entries(rules.policies).flatMap(([name, { permissions, principals }]) => {
    const matchesAllRequests = permissions.some(({ rule }) => rule?.$case === 'any' && rule.value);
    const callers = principals.map(principalRule);
    const fits: CallerRule = (caller) => callers.some((rule) => rule(caller));
    return name === UNCLEAR_PATHS ? [] : [{ fits, matchesAllRequests }];
  });
  const counted = policies.filter(({ matchesAllRequests }) => matchesAllRequests || !isAllow);
  return {
    allows: (caller) => counted.some(({ fits }) => fits(caller)) === isAllow,
    dependsOnRequest: policies.some(({ matchesAllRequests }) => !matchesAllRequests),
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
