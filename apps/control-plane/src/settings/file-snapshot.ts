import { errorText } from '@causeway/runtime';
import { boundedText } from './bounded-text';

/** Reads a text file of at most `mostKib` KiB; throws if it is larger or unreadable. */
export type ReadText = (path: string, mostKib: number) => string;

/** The files that something was made of, as they were found: it is made again only when one of them is another. */
export class FileSnapshot {
  private readonly found = new Map<string, { readonly mostKib: number; readonly as: string }>();

  readonly read: ReadText = (path, mostKib) => {
    this.found.set(path, { mostKib, as: describe(path, mostKib) });
    return boundedText(path, mostKib);
  };

  /** Reads all files again. */
  areSame(): boolean {
    return [...this.found].every(([path, { mostKib, as }]) => describe(path, mostKib) === as);
  }
}

/** Returns the content of a file, or why it cannot be read, as a text that tells both apart. */
function describe(path: string, mostKib: number): string {
  try {
    return `text ${boundedText(path, mostKib)}`;
  } catch (error) {
    return `fault ${errorText(error)}`;
  }
}
