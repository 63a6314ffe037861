import { KDSSyncServiceService } from '@causeway/proto-gen';

const asIs = (bytes: Buffer): Buffer => bytes;
const bytesOnly = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;

/**
 * KDSSyncService whose messages are bytes: `encodeResponse` and `encodeRequest` make them, `decodeResponse` and
 * `decodeRequest` read them. So a message is encoded once for many streams, and one that cannot be read is the
 * stream's to answer, not gRPC's.
 */
export const kdsSyncService = {
  globalToZoneSync: { ...KDSSyncServiceService.globalToZoneSync, ...bytesOnly },
  zoneToGlobalSync: { ...KDSSyncServiceService.zoneToGlobalSync, ...bytesOnly },
} as const;
