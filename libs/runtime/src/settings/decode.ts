import type { Settings, SettingValues } from './setting';

/** Types values that were each parsed by their own setting, which a loop cannot prove to the compiler. */
export function decodeValues<S extends Settings>(values: Record<string, unknown>): SettingValues<S> {
  return values as SettingValues<S>;
}
