import { createHash } from 'node:crypto';
import { CLIENT_CERT_HEADER, NO_CLUSTER } from '@causeway/xds-translation';
import { FilterChain, Listener, type ListenerFilter, TlsInspector } from '@causeway/proto-gen';
import { PLAINTEXT_OPENING, decodeChainChoice, type ChainChoice } from './chain-choice';
import { decodeForwarding, type Forwarding } from './filters';
import { decodeServerTls, type ServerTls } from './tls-settings';
import { asMessage, decodeDuration, readTypedConfig, UnsupportedConfig } from './unsupported-config';
import { ANONYMOUS_CALLER } from './verified-caller';

/** Decoded filter chain. */
export interface DecodedFilterChain {
  readonly name: string;
  /** Content hash: connections of a chain are closed when its hash changes. */
  readonly content: string;
  /** Undefined: plaintext. */
  readonly tls: ServerTls | undefined;
  /** Timeout of the TLS handshake, ms. */
  readonly handshakeTimeout: number;
  readonly forwarding: Forwarding;
  /** The process relies on `x-forwarded-client-cert`, which this dataplane forwards as the caller sent it. */
  readonly needsClientCertHeader: boolean;
}

/** Decoded listener. */
export interface DecodedListener {
  readonly name: string;
  readonly at: { readonly address: string; readonly port: number };
  /** Inspection of the first bytes; undefined if there is none. */
  readonly inspection: Inspection | undefined;
  readonly chains: ReadonlyMap<string, DecodedFilterChain>;
  readonly choose: ChainChoice;
}

export interface Inspection {
  /** Timeout for the first bytes, ms. */
  readonly timeout: number;
  /** Whether a client that sends nothing within the timeout is treated as plaintext; otherwise it is disconnected. */
  readonly continuesOnTimeout: boolean;
}

/** Envoy's defaults. */
const INSPECTION_TIMEOUT = 15_000;
const HANDSHAKE_TIMEOUT = 15_000;

/** @throws UnsupportedConfig */
export function decodeListener(bytes: Uint8Array): DecodedListener {
  const listener = Listener.decode(bytes);
  const { name, filterChains, filterChainMatcher } = listener;
  if (listener.fcdsConfig) throw new UnsupportedConfig('fcdsConfig', 'chains by address are not known');
  // Chains of different source groups have one name and the same content.
  const chains = new Map(filterChains.map((chain) => [chain.name, readChain(chain)]));
  return {
    name,
    at: readAddress(listener),
    inspection: readInspection(listener),
    chains,
    choose: decodeChainChoice(filterChains, filterChainMatcher),
  };
}

/**
 * Returns whether a listener forwards plaintext connections of unauthenticated callers: false if callers need an
 * identity (mTLS Strict, or Permissive with access rules), or if nobody may call.
 */
export function takesPlaintext({ choose, chains }: DecodedListener): boolean {
  const chain = chains.get(choose(PLAINTEXT_OPENING) ?? '');
  if (!chain || chain.tls) return false;
  const { access, choice } = chain.forwarding;
  const isClosed = choice.type === 'fixed' && choice.cluster === NO_CLUSTER;
  return !isClosed && access?.allows(ANONYMOUS_CALLER) !== false;
}

/** Returns whether a process behind the listener relies on a header that only an HTTP proxy sets. */
export function reliesOnClientCertHeader({ chains }: DecodedListener): boolean {
  return [...chains.values()].some((chain) => chain.needsClientCertHeader);
}

function needsClientCertHeader({ metadata }: FilterChain): boolean {
  const { key, field, value } = CLIENT_CERT_HEADER;
  return metadata?.filterMetadata[key]?.[field] === value;
}

function readAddress({ address }: Listener): DecodedListener['at'] {
  const at = address?.address;
  if (at?.$case !== 'socketAddress' || at.value.portSpecifier?.$case !== 'portValue')
    throw new UnsupportedConfig('address', 'is no address with a port');
  return { address: at.value.address, port: at.value.portSpecifier.value };
}

function readInspection(listener: Listener): Inspection | undefined {
  const { listenerFilters, listenerFiltersTimeout, continueOnListenerFiltersTimeout } = listener;
  for (const filter of listenerFilters) expectInspector(filter);
  return listenerFilters.length === 0
    ? undefined
    : {
        timeout: decodeDuration(listenerFiltersTimeout, INSPECTION_TIMEOUT),
        continuesOnTimeout: continueOnListenerFiltersTimeout,
      };
}

function expectInspector(filter: ListenerFilter): void {
  const config = readTypedConfig(filter);
  if (!asMessage(TlsInspector, config)) throw new UnsupportedConfig(filter.name, `${config.typeUrl} is not known`);
}

function readChain(chain: FilterChain): DecodedFilterChain {
  return {
    name: chain.name,
    content: createHash('sha256').update(FilterChain.encode(chain).finish()).digest('hex'),
    tls: decodeServerTls(chain.transportSocket),
    handshakeTimeout: decodeDuration(chain.transportSocketConnectTimeout, HANDSHAKE_TIMEOUT),
    forwarding: decodeForwarding(chain),
    needsClientCertHeader: needsClientCertHeader(chain),
  };
}
