import { unpack, type MessageCodec } from '@causeway/xds-server';
import type { Any } from '@causeway/proto-gen';

/**
 * Configuration that this dataplane does not support. Thrown while a resource is decoded, so that the resource is
 * rejected as a whole, with field and reason.
 */
export class UnsupportedConfig extends Error {
  override readonly name = 'UnsupportedConfig';

  constructor(field: string, reason: string) {
    super(`${field}: ${reason}`);
  }
}

/** Converts a google.protobuf.Duration to ms; returns `preset` if it is absent. */
export function decodeDuration(
  duration: { readonly seconds: number; readonly nanos: number } | undefined,
  preset: number,
): number {
  return duration ? duration.seconds * 1_000 + duration.nanos / 1e6 : preset;
}

interface Configured {
  readonly configType: { readonly $case: string; readonly value: unknown } | undefined;
}

/** Returns the typed config of a filter or transport socket. */
export function readTypedConfig(configured: Configured & { readonly name: string }): Any {
  const { configType, name } = configured;
  if (configType?.$case === 'typedConfig' && isAny(configType.value)) return configType.value;
  throw new UnsupportedConfig(name, 'has no typed config');
}

function isAny(value: unknown): value is Any {
  return typeof value === 'object' && value !== null && 'typeUrl' in value && 'value' in value;
}

/** Decodes `any` if it contains a message of this type; undefined otherwise. */
export function asMessage<T, P>(type: MessageCodec<T, P>, any: Any | undefined): T | undefined {
  return any && unpack(type, any);
}
