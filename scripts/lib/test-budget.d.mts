export function readBudget(suite: 'tests' | 'long'): Readonly<Record<string, number>>;
export function folderOf(file: string): string;
export function sumByFolder(lines: string): Map<string, number>;
export function compareWithBudget(
  taken: ReadonlyMap<string, number>,
  budget: Readonly<Record<string, number>>,
): { readonly ok: boolean; readonly lines: readonly string[] };
