/**
 * IP addresses and address pools: which addresses a kind of service may get, who holds them, which cool down. Pure: knows
 * no store, no clock, no kind.
 *
 *   range settings → planRanges → AddressRange[] → AddressPool: reserve, release, allocate
 */
export { isIP, parseAddress } from './address';
export { AddressPool, type Allocation, type AllocationMoment, type PoolMetrics } from './address-pool';
export { carvingFault, planRanges, type OwnedRanges, type RangePlan, type RangeSetting } from './plan-ranges';
export { describeRange, overlaps, parseRange, RangeIndex, withoutAll, type AddressRange, type Ranged } from './range';
