import type { packFilter } from '@causeway/xds-server';

type PackedFilter = ReturnType<typeof packFilter>;

/** One filter chain of an inbound for which filters are built. */
interface InboundChain {
  /** The stat prefix of its filters; a different one for each chain. */
  readonly statPrefix: string;
  /** Whether callers have a verified identity. */
  readonly isTls: boolean;
  /** Whether the chain parses requests; otherwise it passes bytes through. */
  readonly isHttp: boolean;
}

/** Filters that policies put between callers and the process. */
interface AddedFilters {
  /** Network filters: after the handshake, before the process is dialled. */
  readonly network: readonly PackedFilter[];
  /** HTTP filters, if the inbound parses requests. */
  readonly http: readonly PackedFilter[];
}

export type InboundFilters = (chain: InboundChain) => AddedFilters;

export const NOTHING_ADDED: InboundFilters = () => ({ network: [], http: [] });

/** Joins the filters of several policies in order. */
export function joinedFilters(parts: readonly InboundFilters[]): InboundFilters {
  return (chain) => {
    const added = parts.map((part) => part(chain));
    return { network: added.flatMap(({ network }) => network), http: added.flatMap(({ http }) => http) };
  };
}
