import {
  RBAC_Action,
  RbacMatchAction,
  SubjectInput,
  UriSanInput,
  type MatcherTree,
  type NetworkRbac,
} from '@causeway/proto-gen';
import type { CallerRule, VerifiedCaller } from './verified-caller';
import { asMessage, UnsupportedConfig } from './unsupported-config';

type MatcherList = Extract<NonNullable<MatcherTree['matcherType']>, { $case: 'matcherList' }>['value'];
type Predicate = NonNullable<MatcherList['matchers'][number]['predicate']>;
type SingleRulePredicate = Extract<NonNullable<Predicate['matchType']>, { $case: 'singlePredicate' }>['value'];
type RuleOnMatch = MatcherTree['onNoMatch'];

/** Decodes an access filter with matchers, of which the first match decides; anything unknown is an error. */
export function decodeMatcherRule({ matcherType, onNoMatch }: NonNullable<NetworkRbac['matcher']>): CallerRule {
  if (matcherType?.$case !== 'matcherList') throw new UnsupportedConfig('matcher', 'is no list');
  const matchers = matcherType.value.matchers.map(({ predicate, onMatch }) => ({
    fits: predicateRule(predicate),
    allows: isAllowed(onMatch),
  }));
  // As in Envoy: a caller that matches no entry is denied unless the configuration allows it.
  const otherwise = onNoMatch ? isAllowed(onNoMatch) : false;
  return (caller) => matchers.find(({ fits }) => fits(caller))?.allows ?? otherwise;
}

function isAllowed(on: RuleOnMatch): boolean {
  const config = on?.onMatch?.$case === 'action' ? on.onMatch.value.typedConfig : undefined;
  const action = config && asMessage(RbacMatchAction, config)?.action;
  if (action === RBAC_Action.ALLOW) return true;
  if (action === RBAC_Action.DENY) return false;
  throw new UnsupportedConfig('matcher', 'results in neither ALLOW nor DENY');
}

function predicateRule(predicate: Predicate | undefined): CallerRule {
  const type = predicate?.matchType;
  switch (type?.$case) {
    case 'singlePredicate':
      return singleRule(type.value);
    case 'andMatcher': {
      const all = type.value.predicate.map(predicateRule);
      return (caller) => all.every((rule) => rule(caller));
    }
    case 'orMatcher': {
      const any = type.value.predicate.map(predicateRule);
      return (caller) => any.some((rule) => rule(caller));
    }
    default:
      throw new UnsupportedConfig('matcher', `${type?.$case ?? 'nothing'} is not known`);
  }
}

function singleRule({ input, matcher }: SingleRulePredicate): CallerRule {
  const pattern = matcher?.$case === 'valueMatch' ? matcher.value.matchPattern : undefined;
  const values = selectValues(input?.typedConfig);
  if (pattern?.$case === 'exact') return (caller) => values(caller).includes(pattern.value);
  if (pattern?.$case === 'prefix') return (caller) => values(caller).some((one) => one.startsWith(pattern.value));
  throw new UnsupportedConfig('matcher', `${pattern?.$case ?? 'nothing'} is not known`);
}

function selectValues(
  config: NonNullable<SingleRulePredicate['input']>['typedConfig'],
): (caller: VerifiedCaller) => readonly string[] {
  if (config && asMessage(SubjectInput, config)) return ({ subject }) => [subject];
  if (config && asMessage(UriSanInput, config)) return ({ ids }) => ids;
  throw new UnsupportedConfig('matcher', `${config?.typeUrl ?? 'nothing'} is not known`);
}
