import type { Settings, SettingValues } from './settings-types';

/** Types the values that were each made by the parser of their own setting, which a loop cannot show to the compiler. */
export function decodeValues<S extends Settings>(values: Record<string, unknown>): SettingValues<S> {
  return values as SettingValues<S>;
}
