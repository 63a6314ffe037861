import { isJsonObject, type JsonObject } from '@causeway/resources';

/** The address in a service's status; `Kubernetes`: it is that cluster's to give and take. */
export interface ServiceVip {
  readonly ip: string;
  readonly type: 'Kuma' | 'Kubernetes';
}

/** Reads `status.vip`; undefined when there is none. */
export function vipOf(status: JsonObject | undefined): ServiceVip | undefined {
  const vip = status?.['vip'];
  if (!isJsonObject(vip) || typeof vip['ip'] !== 'string') return undefined;
  return { ip: vip['ip'], type: vip['type'] === 'Kubernetes' ? 'Kubernetes' : 'Kuma' };
}
