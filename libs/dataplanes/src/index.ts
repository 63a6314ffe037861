/** Selection of Dataplanes (libs/dataplanes/README.md). */
export {
  asDataplane,
  dataplaneValues,
  listInbounds,
  selectedDataplanes,
  findSelector,
  type DataplaneInbound,
  type DataplaneResource,
  type DataplaneSelector,
  type ServiceResource,
} from './dataplane-selector';
export { InboundChange } from './inbound-change';
export { SelectorMatcher, type SelectorTerm } from './selector-matcher';
