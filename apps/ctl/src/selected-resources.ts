import { ApiError, type ApiClient, type ResourceRef } from '@causeway/api-client';
import { parseKri } from '@causeway/naming';
import type { JsonObject, Kind } from '@causeway/resources';
import { requireKind, type CommandContext } from './context';
import { itemToRef, toSelection, formatTitle, type Place } from './refs';
import { textAt } from './render';

/** Maximum number of copies that are named; more are counted. */
const SHOWN = 20;

/**
 * Returns the resources of a kind with these labels that were made on the control plane, in the order of its list. A copy from another control plane
 * cannot be changed there: it is skipped, with a line that names its origin.
 */
export async function selectedResources(
  context: CommandContext,
  noun: string,
  { selector, ...place }: Place & { readonly selector: string },
): Promise<readonly ResourceRef[]> {
  const kind = requireKind(context.registry, noun);
  const api = await context.api();
  const { documents } = await api.list(toSelection(kind, place, selector));
  // All resources of one zone and one label of origin are own, or all are copies.
  const decisions = new Map<string, boolean>();
  const [own, copies]: [ResourceRef[], ResourceRef[]] = [[], []];
  for (const item of documents) {
    const ref = itemToRef(kind, item);
    const zone = readZone(kind, item);
    const origin = JSON.stringify([zone, textAt(item, 'labels', 'kuma.io/origin')]);
    const isCopy = zone === undefined ? false : (decisions.get(origin) ?? (await isCopyHere(api, ref, { item, zone })));
    if (isCopy !== undefined) decisions.set(origin, isCopy);
    if (isCopy === true) copies.push({ ...ref, ...(zone === undefined ? {} : { zone }) });
    else own.push(ref);
  }
  for (const { zone = '', ...ref } of copies.slice(0, SHOWN)) {
    const maker = zone === '' ? 'the global' : `zone ${zone}`;
    context.printError(`${formatTitle(ref)} is a copy, made on ${maker}: skipped; it is changed there`);
  }
  if (copies.length > SHOWN) context.printError(`and ${copies.length - SHOWN} more copies: skipped`);
  return own;
}

/** Returns the zone of identity, empty for the global; undefined for kinds without one. */
function readZone({ sync }: Kind, item: JsonObject): string | undefined {
  const parsed = parseKri(textAt(item, 'kri'));
  return parsed.ok && sync.zoneInIdentity ? parsed.kri.zone : undefined;
}

/** Reports whether a listed resource differs from the one that its plain name refers to; undefined if it was deleted meanwhile. */
async function isCopyHere(
  api: ApiClient,
  ref: ResourceRef,
  { item, zone }: { readonly item: JsonObject; readonly zone: string },
): Promise<boolean | undefined> {
  const own = await found(api, ref);
  if (own) return textAt(own, 'kri') !== textAt(item, 'kri');
  return (await found(api, { ...ref, zone })) ? true : undefined;
}

async function found(api: ApiClient, ref: ResourceRef): Promise<JsonObject | undefined> {
  try {
    return (await api.get(ref)).document;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not-found') return undefined;
    throw error;
  }
}
