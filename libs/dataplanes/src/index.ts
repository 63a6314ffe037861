/** Which Dataplanes a selector selects (libs/dataplanes/README.md). */
export {
  asDataplane,
  dataplaneValues,
  inboundsOf,
  selectedDataplanes,
  selectorOf,
  type DataplaneInbound,
  type DataplaneResource,
  type DataplaneSelector,
  type ServiceResource,
} from './dataplane-selector';
export { InboundChange } from './inbound-change';
export { SelectorMatcher, type SelectorTerm } from './selector-matcher';
