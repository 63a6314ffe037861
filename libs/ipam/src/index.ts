/** Addresses and address pools (libs/ipam/README.md). */
export { isIP, parseAddress } from './address';
export { AddressPool, type Allocation, type AllocationMoment, type PoolMetrics } from './address-pool';
export {
  DEFAULT_DIAL_RULES,
  isLoopbackAddress,
  isMemberAddress,
  isSameAddress,
  mayDial,
  parseDialRules,
  type DialRules,
} from './dial-rules';
export { carvingFault, planRanges, type OwnedRanges, type RangePlan, type RangeSetting } from './plan-ranges';
export { describeRange, overlaps, parseRange, RangeIndex, withoutAll, type AddressRange } from './range';
