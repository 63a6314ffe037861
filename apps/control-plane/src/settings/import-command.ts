/** `import FILE`: restores a backup instead of running. */
export interface ImportCommand {
  /** Path of the backup; `-` means standard input. */
  readonly file: string;
  readonly dryRun: boolean;
}

/** Usage of the command. */
export const IMPORT_USAGE = 'import takes the file of a backup, or - for standard input, and --dry-run';

/** Parses the arguments of `import`; undefined if they are invalid. */
export function importCommand(words: readonly string[]): ImportCommand | undefined {
  const [file, ...more] = words.filter((word) => word !== '--dry-run');
  if (file === undefined || file === '' || more.length > 0 || (file.startsWith('-') && file !== '-')) return undefined;
  return { file, dryRun: words.includes('--dry-run') };
}
