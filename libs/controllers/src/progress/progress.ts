import type { Resource } from '@causeway/resources';
import type { ProxyFacts } from '@causeway/store';
import { shortened } from '@causeway/resources';
import { planeLabels, planeOf, type ProxyPlane } from './planes';

/** How many have applied something, of how many that should, and the first of the others by name. */
export interface Progress {
  readonly acked: number;
  readonly total: number;
  readonly waitingFor: readonly string[];
}

/** Who has applied what a resource says. */
export interface ResourceProgress {
  /** Connected proxies that it concerns; those that cannot obey it are counted in `unable` alone. */
  readonly proxies: Progress;
  /** Connected proxies that cannot obey it, with what they are. */
  readonly unable: Progress;
  /** Of a resource of the global: the zones whose proxies have all applied it. */
  readonly zones?: Progress;
  /** The proxies of some zones are not counted. */
  readonly isPartial?: boolean;
  /** Connected zones that report nothing of resources of this kind: of an older version, or not yet. */
  readonly silent?: readonly string[];
}

/** Whose proxies obey a resource: all of a mesh, those of one namespace, or some of them. */
export interface Concerned {
  readonly mesh: string;
  readonly namespace?: string | undefined;
  /** Some of them: by the identity key of the Dataplane, `key` naming which. */
  readonly some?: { readonly key: string; readonly has: (owner: string) => boolean } | undefined;
  /** Also the egresses of the zone: some of what it is about is outside the mesh. */
  readonly leaves?: boolean | undefined;
}

/** What a proxy must be able to do. Equal keys mean the same. */
export interface Needs {
  readonly key: string;
  readonly isAble: (plane: ProxyPlane, facts: Pick<ProxyFacts, 'bytesOnly'>) => boolean;
}

/** The question who has applied a resource. */
export interface Asked {
  readonly resource: Resource;
  readonly concerned: Concerned;
  readonly needs: Needs;
  /** The revision of the log here with which it came into force as it is. */
  readonly since: number;
}

/** Knows who has applied routes and policies. */
export interface ProgressSource {
  /** Undefined where nothing is known yet. */
  of(asked: Asked): ResourceProgress | undefined;
  /** Something that only moves on: equal where nothing is known anew. */
  readonly version: string;
  /** Tells of which resources other proxies than before cannot obey them. */
  readonly refusals: RefusalSource;
  /** Names of the zones of Kuma, sorted; undefined while they are not known. */
  untold?(): readonly string[] | undefined;
}

/** Tells of which of the resources that it watches other proxies than before cannot obey them. */
export interface RefusalSource {
  watch(asked: Pick<Asked, 'resource' | 'concerned' | 'needs'>): void;
  forget(key: string): void;
  /** Keys; since the call before. */
  take(): readonly string[];
}

/** Whether something is known anew since the call before. */
export class Movement {
  private seen: string | undefined;

  constructor(private readonly source: Pick<ProgressSource, 'version'> | undefined) {}

  hasMoved(): boolean {
    const version = this.source?.version;
    if (version === this.seen) return false;
    this.seen = version;
    return true;
  }
}

const MOST_NAMED = 3;
const LONGEST_NAME = 100;

/** The first of those who are waited for, and how many more there are. */
export function namesOf({ waitingFor, acked, total }: Progress, all = total - acked): string {
  const shown = waitingFor.slice(0, MOST_NAMED).map((name) => shortened(name, LONGEST_NAME, '…'));
  if (shown.length === 0) return `${all} of them`;
  return all > shown.length ? `${shown.join(', ')} and ${all - shown.length} more` : shown.join(', ');
}

/** A proxy that cannot obey something: its name, what it is, and why it passes on everything as bytes. */
export function unableName(proxy: string, facts: Pick<ProxyFacts, 'userAgent' | 'bytesOnly' | 'kind'>): string {
  const label = planeLabels[planeOf(facts)];
  return facts.bytesOnly === undefined ? `${proxy} (${label})` : `${proxy} (${label}, ${facts.bytesOnly})`;
}

/** The planes that names of proxies that cannot obey something tell of. */
export function planesNamed({ waitingFor }: Progress): readonly ProxyPlane[] {
  return PLANES.filter((plane) => waitingFor.some((name) => new RegExp(`\\(${planeLabels[plane]}[,)]`).test(name)));
}

const PLANES: readonly ProxyPlane[] = ['grpc', 'builtin', 'direct', 'envoy', 'egress'];
