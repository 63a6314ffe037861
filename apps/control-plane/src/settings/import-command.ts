/** `import FILE`: restores a backup in place of running. */
export interface ImportCommand {
  /** `-`: standard input. */
  readonly file: string;
  readonly dryRun: boolean;
}

/** Usage of the command. */
export const IMPORT_USAGE = 'import takes the file of a backup, or - for standard input, and --dry-run';

/** The command of the words behind `import`; undefined for wrong ones. */
export function importCommand(words: readonly string[]): ImportCommand | undefined {
  const [file, ...more] = words.filter((word) => word !== '--dry-run');
  if (file === undefined || file === '' || more.length > 0 || (file.startsWith('-') && file !== '-')) return undefined;
  return { file, dryRun: words.includes('--dry-run') };
}
