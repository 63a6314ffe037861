/** A document that a text names, and the sections of it that it names there. */
export interface Citation {
  /** As in the text: `docs/design.md`, `docs/guides/dns.md`. */
  readonly document: string;
  /** `5`, `4.2.3`, `Appendix B.4`. */
  readonly sections: readonly string[];
}

/** A link of a Markdown page to something in the repository. */
export interface Link {
  /** Empty: the page itself. */
  readonly path: string;
  readonly anchor: string | undefined;
}

const DOCUMENT = /(?:[\w.-]+\/)*[\w.-]*\w\.md\b/g;
const FIRST_SECTION = /^[`)]? (?:§ ?(\d+(?:\.\d+)*)|(Appendix [A-Z](?:\.\d+)?))/;
const NEXT_SECTION = /^[^.;:()§|]{0,30}, §(\d+(?:\.\d+)*)/;
const LONGEST_CHAIN = 300;

/** Returns every citation in source, comments or prose; a citation across a line break is joined. */
export function findCitations(source: string): readonly Citation[] {
  const text = source.replace(/\s*\n\s*(?:\*(?!\/)|\/\/|#+)?[^\S\n]*/g, ' ');
  return [...text.matchAll(DOCUMENT)].map((match) => {
    const end = match.index + match[0].length;
    return { document: match[0], sections: sectionsIn(text.slice(end, end + LONGEST_CHAIN)) };
  });
}

function sectionsIn(text: string): readonly string[] {
  const sections: string[] = [];
  let rest = text;
  for (let match = FIRST_SECTION.exec(rest); match; match = NEXT_SECTION.exec(rest)) {
    sections.push(match[1] ?? match[2] ?? '');
    rest = rest.slice(match[0].length);
  }
  return sections;
}

/** Returns the numbers of a page's sections: of its headings, and of numbered items below each heading. */
export function sectionsOf(page: string): ReadonlySet<string> {
  const sections = new Set<string>();
  let heading: string | undefined;
  for (const line of page.split('\n')) {
    if (line.startsWith('#')) {
      heading = /^#+ (\d+(?:\.\d+)*|Appendix [A-Z])\b/.exec(line)?.[1];
      if (heading !== undefined) sections.add(heading);
    }
    const item = /^(\d+)\. /.exec(line)?.[1];
    if (heading !== undefined && item !== undefined) sections.add(`${heading}.${item}`);
  }
  return sections;
}

/** The links of a page that lead into the repository. Code may look like one. */
export function linksIn(page: string): readonly Link[] {
  const prose = page.replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)].map(([, path = '', anchor]) => ({
    path,
    anchor,
  }));
}

/** Returns the anchors of a page: its headings in lower case, words joined by dashes. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const titles = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
