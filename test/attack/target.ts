import type { GrpcPort } from '../support/grpc-ports';
import type { Tally } from './tally';

/** Address where proxies of a zone connect, on this host and in plain text. */
export interface ProxyTarget {
  readonly port: number;
  /** Dataplane tokens of the proxies `default.evil` and `default.good`, and of the agent of `default.agent`, by node. */
  readonly tokens: Readonly<Record<string, string>>;
}

/** Targets of the attacks: the mesh as anybody on this host, or the holder of a zone token, reaches it. */
export interface Target {
  /** `host:port` of the global for zones, and the authority that verifies it. */
  readonly kds: string;
  readonly ca: string;
  /** Tokens of zones that mean no good, by zone. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Base URLs of REST by control plane. */
  readonly rest: Readonly<Record<string, string>>;
  /** `host:port` of DNS by zone. */
  readonly dns: Readonly<Record<string, string>>;
  /** Ports that speak gRPC. */
  readonly grpc: readonly Pick<GrpcPort, 'name' | 'target' | 'path'>[];
  /** Tokens of a user who is `service-owner` in the namespace `default`, by zone. */
  readonly owners: Readonly<Record<string, string>>;
  /** By zone. */
  readonly proxies: Readonly<Record<string, ProxyTarget>>;
}

/** Inputs of an attack. */
export interface Arena {
  readonly target: Target;
  readonly tally: Tally;
  readonly stop: AbortSignal;
}

/** One attack, repeated until its signal aborts. */
export interface Attack {
  readonly name: string;
  /** Strikes once; resolves when the blow is over. Rejections count as outcomes. */
  readonly strike: (arena: Arena, turn: number) => Promise<void>;
  /** Between two blows, ms. */
  readonly pause: number;
}

/** Returns the message of an error. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
