const HYPHEN = 45;
const DOT = 46;
/** Maximum length of a DNS name as text, without the trailing dot. */
export const MAX_HOSTNAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/**
 * Returns why `name` is not a DNS name, or undefined if it is: RFC 1123 labels of lower-case letters, digits and '-',
 * at most 63 octets each and 253 in total. Upper case is refused and never converted silently (docs/design.md §4
 * hostname).
 */
export function dnsNameProblem(name: string): string | undefined {
  if (name === '') return 'it is empty';
  if (name.length > MAX_HOSTNAME_LENGTH) return tooLong(name.length);
  let start = 0;
  for (let i = 0; i <= name.length; i++) {
    const code = i < name.length ? name.charCodeAt(i) : DOT;
    if (code !== DOT) {
      if (!isLetterOrDigit(code) && code !== HYPHEN) return characterProblem(name, i);
    } else {
      const problem = labelProblem(name, start, i);
      if (problem !== undefined) return problem;
      start = i + 1;
    }
  }
  return undefined;
}

/** Returns why a name of `length` characters is refused. */
export function tooLong(length: number): string {
  return `it has ${length} characters, ${MAX_HOSTNAME_LENGTH} are allowed`;
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

function labelProblem(name: string, start: number, end: number): string | undefined {
  if (start === end)
    return start === 0 ? "it starts with '.'" : end === name.length ? "it ends with '.'" : "it has two '.' in a row";
  if (end - start > MAX_LABEL_LENGTH) {
    return `"${name.slice(start, end)}" has ${end - start} characters, ${MAX_LABEL_LENGTH} are allowed between two dots`;
  }
  if (name.charCodeAt(start) === HYPHEN || name.charCodeAt(end - 1) === HYPHEN) {
    return `"${name.slice(start, end)}" starts or ends with '-'`;
  }
  return undefined;
}

function characterProblem(name: string, at: number): string {
  const char = String.fromCodePoint(name.codePointAt(at) ?? 0);
  if (char >= 'A' && char <= 'Z')
    return `"${char}" is an upper-case letter; write it in lower case, it is not changed for you`;
  return `${JSON.stringify(char)} is none of a-z, 0-9, '-', '.'`;
}
