import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';

/** Readiness of one inbound. */
export interface InboundReadiness {
  /** Index in `networking.inbound`. */
  readonly inbound: number;
  readonly ready: boolean;
  /** Description of the check, such as `tcp 127.0.0.1:6379`. */
  readonly check: string;
  /** Why it is not ready. */
  readonly reason: string;
  /** ms since 1970. */
  readonly since: number;
  /** It is not ready because its process can be reached without its proxy. */
  readonly plaintextReachable?: boolean;
}

/** Lists every inbound of a spec as not ready. */
export function listStoppedInbounds(spec: JsonObject, reason: string, since: number): readonly InboundReadiness[] {
  const networking = spec['networking'];
  const inbounds = isJsonObject(networking) ? networking['inbound'] : undefined;
  if (!isJsonArray(inbounds)) return [];
  return inbounds.map((_, inbound) => ({ inbound, ready: false, check: '', reason, since }));
}
