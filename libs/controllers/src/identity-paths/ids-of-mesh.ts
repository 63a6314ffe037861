import { compareText } from '@causeway/resources';

/** The facts about a Dataplane that the state of its mesh depends on. */
export interface ConcernedDataplane {
  readonly namespace: string;
  readonly uris: readonly string[];
  /** Whether its ids depend on the form of preset paths. */
  readonly isConcerned: boolean;
}

/** The SPIFFE ids of the Dataplanes of one mesh in a zone, by namespace; a change costs the ids that changed. */
export class IdsOfMesh {
  /** The number of Dataplanes whose ids depend on the form of preset paths, by namespace. */
  readonly concerned = new Map<string, number>();
  private readonly bearers = new Map<string, ConcernedDataplane>();
  private readonly byUri = new Map<string, Map<string, number>>();
  /** Ids that occur in several namespaces. */
  private readonly sharedUris = new Set<string>();

  /** Files a Dataplane, or removes it if undefined; returns whether the namespaces or shared ids changed. */
  set(key: string, bearer: ConcernedDataplane | undefined): boolean {
    const before = this.bearers.get(key);
    const uris = new Set([...(before?.uris ?? []), ...(bearer?.uris ?? [])]);
    const [namespaces, shared] = [this.concerned.size, this.sharing(uris)];
    const places = [before, bearer].flatMap((one) => (one?.isConcerned === true ? [one.namespace] : []));
    const had = places.map((namespace) => this.concerned.has(namespace));
    if (before) this.add(before, -1);
    if (bearer) this.add(bearer, 1);
    if (bearer) this.bearers.set(key, bearer);
    else this.bearers.delete(key);
    const isMoved = places.some((namespace, i) => this.concerned.has(namespace) !== had[i]);
    return isMoved || namespaces !== this.concerned.size || shared !== this.sharing(uris);
  }

  /** Yields the ids that occur in several namespaces, each with these, sorted. */
  *shared(): Iterable<readonly [uri: string, namespaces: readonly string[]]> {
    for (const uri of this.sharedUris) yield [uri, [...(this.byUri.get(uri)?.keys() ?? [])].sort(compareText)];
  }

  private sharing(uris: Iterable<string>): string {
    const places = [...uris].map((uri) => [
      uri,
      ...(this.sharedUris.has(uri) ? (this.byUri.get(uri)?.keys() ?? []) : []),
    ]);
    return JSON.stringify(places.map((place) => place.sort()));
  }

  private add({ namespace, uris, isConcerned }: ConcernedDataplane, by: 1 | -1): void {
    if (isConcerned) count(this.concerned, namespace, by);
    for (const uri of uris) {
      const namespaces = this.byUri.get(uri) ?? new Map<string, number>();
      this.byUri.set(uri, namespaces);
      count(namespaces, namespace, by);
      if (namespaces.size > 1) this.sharedUris.add(uri);
      else this.sharedUris.delete(uri);
      if (namespaces.size === 0) this.byUri.delete(uri);
    }
  }
}

function count(counts: Map<string, number>, of: string, by: 1 | -1): void {
  const now = (counts.get(of) ?? 0) + by;
  if (now > 0) counts.set(of, now);
  else counts.delete(of);
}
