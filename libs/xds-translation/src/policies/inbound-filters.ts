import type { packFilter } from '@causeway/xds-server';

type PackedFilter = ReturnType<typeof packFilter>;

/** One way into an inbound, for which filters are asked. */
interface InboundChain {
  /** Another one for each chain: filters count under it. */
  readonly statPrefix: string;
  /** Callers have a verified identity. */
  readonly isTls: boolean;
  /** Its requests are looked into; otherwise it passes on bytes. */
  readonly isHttp: boolean;
}

/** Filters that policies put between callers and the process. */
interface AddedFilters {
  /** Of connections: after the caller's identity is known, before the process is dialled. */
  readonly network: readonly PackedFilter[];
  /** Of requests, where the inbound looks into them. */
  readonly http: readonly PackedFilter[];
}

export type InboundFilters = (chain: InboundChain) => AddedFilters;

export const NOTHING_ADDED: InboundFilters = () => ({ network: [], http: [] });

/** The filters of several policies, in their order. */
export function joinedFilters(parts: readonly InboundFilters[]): InboundFilters {
  return (chain) => {
    const added = parts.map((part) => part(chain));
    return { network: added.flatMap(({ network }) => network), http: added.flatMap(({ http }) => http) };
  };
}
