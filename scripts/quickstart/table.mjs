const COLUMNS = ['SERVICE', 'ZONE', 'VIP', 'HOSTNAME', 'STATUS'];

/** What one zone sees, as text: a line for each hostname of each service. */
export function serviceTable(services) {
  const sorted = [...services].sort((a, b) => a.name.localeCompare(b.name) || a.zone.localeCompare(b.zone));
  const rows = [COLUMNS, ...sorted.flatMap(rowsOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column])).join('  ')}`.trimEnd())
    .join('\n');
}

function rowsOf({ name, zone, ip = 'none yet', addresses }) {
  const hostnames = [...addresses]
    .sort((a, b) => a.hostname.localeCompare(b.hostname))
    .map(({ hostname, status, reason }) => [hostname, reason ? `${status}: ${reason}` : status]);
  const [first = ['none yet', ''], ...rest] = hostnames;
  return [[name, zone, ip, ...first], ...rest.map((cells) => ['', '', '', ...cells])];
}
