/** True for an IPv4 address in dotted decimals. */
export function isIPv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255);
}

/** True for an IPv6 address by RFC 4291 §2.2, without a zone. */
export function isIPv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const count = groups.reduce((sum, list, i) => sum + countGroups(list, i === groups.length - 1), 0);
  return halves.length === 2 ? count <= 7 : count === 8;
}

/** How many 16-bit groups a part has, or more than any address when one is malformed. */
function countGroups(groups: readonly string[], last: boolean): number {
  return groups.reduce((sum, group, i) => {
    if (/^[0-9A-Fa-f]{1,4}$/.test(group)) return sum + 1;
    return last && i === groups.length - 1 && isIPv4(group) ? sum + 2 : sum + 9;
  }, 0);
}

/** True for an address of either family. */
export function isIP(text: string): boolean {
  return isIPv4(text) || isIPv6(text);
}

/** True for a host name a resolver would be asked for; upper case and underscores occur in the wild. */
export function isDomainName(text: string): boolean {
  return (
    text.length <= 253 &&
    text.split('.').every((label) => /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/.test(label))
  );
}
