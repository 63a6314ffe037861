/**
 * IP addresses and address pools: which addresses a kind of service may get, who holds them, which cool down. Pure: knows
 * no store, no clock, no kind.
 *
 *   range settings → planRanges → AddressRange[] → AddressPool: reserve, release, allocate
 */
export { formatAddress, isIP, isIPv4, isIPv6, parseAddress, type IpAddress } from './address';
export { AddressPool, type Allocation, type PoolMetrics } from './address-pool';
export { planRanges, type OwnedRanges, type RangePlan, type RangeSetting } from './plan-ranges';
export { describeRange, parseRange, type AddressRange, type ParsedRange } from './range';
