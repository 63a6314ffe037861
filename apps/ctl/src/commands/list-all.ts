import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import type { ApiClient, ApiRequest } from '../api-client';

/** All items of a list, page by page. */
export async function listAll(api: ApiClient, request: Omit<ApiRequest, 'method'>): Promise<JsonObject[]> {
  const items: JsonObject[] = [];
  let next: string | undefined;
  do {
    const page = next === undefined ? { ...request, query: { size: '1000', ...request.query } } : { path: next };
    const { body } = await api.send({ method: 'GET', ...page });
    if (!isJsonObject(body)) return items;
    const { items: found, next: following } = body;
    if (isJsonArray(found)) items.push(...found.filter(isJsonObject));
    next = typeof following === 'string' ? following : undefined;
  } while (next !== undefined);
  return items;
}
