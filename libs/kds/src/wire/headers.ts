import { Metadata } from '@grpc/grpc-js';

const Header = {
  zone: 'client-id',
  features: 'features',
  kds: 'kds-version',
  zoneVersion: 'zone-version',
  version: 'version',
  session: 'causeway-session',
  token: 'authorization',
} as const;
const HEADER_FEATURES = ['zone-ping-health', 'hash-suffix'] as const;

/** The headers of every call of a zone (docs/reference/kds-wire.md §1.3). */
export interface ZoneHeaders {
  readonly zone: string;
  readonly version: string;
  readonly features: readonly string[];
  /** Sent by Kuma 3 only. */
  readonly zoneVersion?: string;
  /** From the handshake; absent from a plain Kuma zone. */
  readonly session?: number;
  /** Extensions agreed on in the handshake; sent as additional features, since Kuma ignores unknown features. */
  readonly extensions?: readonly string[];
  /** Zone token without the scheme. */
  readonly token?: string;
}

/** Encodes the headers of a call. Each feature is a header of its own: a Kuma global requires that. */
export function encodeZoneHeaders(headers: Omit<ZoneHeaders, 'features' | 'zoneVersion'>): Metadata {
  const metadata = new Metadata();
  metadata.set(Header.zone, headers.zone);
  for (const feature of [...HEADER_FEATURES, ...(headers.extensions ?? [])]) metadata.add(Header.features, feature);
  metadata.set(Header.kds, 'v3');
  metadata.set(Header.version, headers.version);
  if (headers.session !== undefined) metadata.set(Header.session, String(headers.session));
  if (headers.token !== undefined) metadata.set(Header.token, `Bearer ${headers.token}`);
  return metadata;
}

/** Decodes the headers of a call. Node joins repeated headers with commas, so both forms are read. A session that is not a number is ignored. */
export function decodeZoneHeaders(metadata: Metadata): ZoneHeaders {
  const session = parseSession(first(metadata, Header.session) ?? '');
  const zoneVersion = first(metadata, Header.zoneVersion);
  const token = /^Bearer\s+(.+)$/i.exec(first(metadata, Header.token) ?? '')?.[1];
  return {
    zone: first(metadata, Header.zone) ?? '',
    version: first(metadata, Header.version) ?? '',
    features: all(metadata, Header.features),
    ...(zoneVersion === undefined ? {} : { zoneVersion }),
    ...(session === undefined ? {} : { session }),
    ...(token === undefined ? {} : { token }),
  };
}

function parseSession(text: string): number | undefined {
  const session = /^\d+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(session) ? session : undefined;
}

function first(metadata: Metadata, key: string): string | undefined {
  return metadata.get(key)[0]?.toString();
}

function all(metadata: Metadata, key: string): readonly string[] {
  return metadata
    .get(key)
    .flatMap((value) => value.toString().split(','))
    .map((value) => value.trim());
}
