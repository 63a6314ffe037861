/** Addresses and address pools (libs/ipam/README.md). */
export { isIP, parseAddress } from './address';
export { AddressPool, type Allocation, type AllocationMoment, type PoolMetrics } from './address-pool';
export {
  DEFAULT_DIAL_RULE_TEXTS,
  DEFAULT_DIAL_RULES,
  describeDialRules,
  isLoopbackAddress,
  isMemberAddress,
  isSameAddress,
  MAX_DIAL_RULES,
  mayDial,
  parseDialRules,
  type DialRule,
  type DialRules,
  type ParsedDialRules,
} from './dial-rules';
export { carvingFault, planRanges, type OwnedRanges, type RangePlan, type RangeSetting } from './plan-ranges';
export { describeRange, overlaps, parseRange, RangeIndex, withoutAll, type AddressRange, type Ranged } from './range';
