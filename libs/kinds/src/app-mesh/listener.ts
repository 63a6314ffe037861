import { Type } from 'typebox';
import { HTTP_ROLE } from '@causeway/resources';
import { Optionals, PortNumber, strict } from '../schema/schema-parts';
import { AppMeshDuration, AwsText, IdleTimeout, PortMapping, Protocol, RequestTimeout } from './parts';

const Threshold = Type.Integer({ minimum: 2, maximum: 10 });
const AtLeastOne = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const FilePath = Type.String({ minLength: 1, maxLength: 255 });

const HealthCheck = Type.Object(
  {
    healthyThreshold: Threshold,
    intervalMillis: Type.Integer({ minimum: 5_000, maximum: 300_000 }),
    path: Type.Optional(Type.String({ maxLength: 1_024, [HTTP_ROLE]: 'new path' })),
    port: Type.Optional(PortNumber),
    protocol: Protocol,
    timeoutMillis: Type.Integer({ minimum: 2_000, maximum: 60_000 }),
    unhealthyThreshold: Threshold,
  },
  strict,
);

const OutlierDetection = Type.Object(
  {
    maxServerErrors: AtLeastOne,
    interval: AppMeshDuration,
    baseEjectionDuration: AppMeshDuration,
    maxEjectionPercent: Type.Integer({ minimum: 0, maximum: 100 }),
  },
  strict,
);

const Requests = Type.Object({ maxRequests: AtLeastOne }, strict);
/** Allows at most one of the protocols. */
const ConnectionPool = Optionals({
  tcp: Type.Object({ maxConnections: AtLeastOne }, strict),
  http: Type.Object({ maxConnections: AtLeastOne, maxPendingRequests: Type.Optional(AtLeastOne) }, strict),
  http2: Requests,
  grpc: Requests,
});

const Timeout = Optionals({
  tcp: IdleTimeout,
  http: RequestTimeout,
  http2: RequestTimeout,
  grpc: RequestTimeout,
});

const FileCertificate = Type.Object({ certificateChain: FilePath, privateKey: FilePath }, strict);
const Sds = Type.Object({ secretName: AwsText }, strict);
/** Validation of a peer's certificate: the trust source, and the subject alternative names it must contain. */
const Validation = Optionals({
  trust: Optionals({
    acm: Optionals({ certificateAuthorityARNs: Type.Array(AwsText, { maxItems: 3 }) }),
    file: Type.Object({ certificateChain: FilePath }, strict),
    sds: Sds,
  }),
  subjectAlternativeNames: Optionals({
    match: Optionals({ exact: Type.Array(AwsText, { maxItems: 64 }) }),
  }),
});

/** In the schema so that its refusal explains itself: the mesh encrypts traffic (docs/guides/mtls.md). */
const ListenerTls = Optionals({
  certificate: Optionals({ acm: Optionals({ certificateARN: AwsText }), file: FileCertificate, sds: Sds }),
  validation: Validation,
  mode: Type.Enum(['DISABLED', 'PERMISSIVE', 'STRICT']),
});

/** In the schema so that its refusal explains itself: `tls`, its only field, is refused. */
export const ClientPolicy = Optionals({
  tls: Optionals({
    enforce: Type.Boolean(),
    ports: Type.Array(PortNumber, { maxItems: 64 }),
    certificate: Optionals({ file: FileCertificate, sds: Sds }),
    validation: Validation,
  }),
});

/** Listener at which the Dataplanes of a VirtualNode accept requests. */
export const Listener = Type.Object(
  {
    portMapping: PortMapping,
    healthCheck: Type.Optional(HealthCheck),
    outlierDetection: Type.Optional(OutlierDetection),
    connectionPool: Type.Optional(ConnectionPool),
    tls: Type.Optional(ListenerTls),
    timeout: Type.Optional(Timeout),
  },
  strict,
);
