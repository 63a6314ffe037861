/** One fenced block of a page: the word after the fence, the words behind that, the text, and its line. */
export interface PageBlock {
  readonly language: string;
  readonly argument: string;
  readonly text: string;
  readonly line: number;
}

/** The fenced blocks under one heading. */
export interface PageExample {
  readonly title: string;
  readonly blocks: readonly PageBlock[];
}

/** Returns the fenced blocks of a Markdown page by heading; headings without any are left out. */
export function pageExamples(page: string): readonly PageExample[] {
  const examples: { title: string; blocks: PageBlock[] }[] = [{ title: '', blocks: [] }];
  const lines = page.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const title = /^#+ (.*)$/.exec(line)?.[1];
    if (title !== undefined) examples.push({ title, blocks: [] });
    const [, language, argument = ''] = /^```(\S+) ?(.*)$/.exec(line) ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf('```', i + 1);
    if (end < 0) throw new Error(`line ${i + 1}: the block has no end`);
    examples.at(-1)?.blocks.push({ language, argument, text: lines.slice(i + 1, end).join('\n'), line: i + 1 });
    i = end;
  }
  return examples.filter(({ blocks }) => blocks.length > 0);
}
