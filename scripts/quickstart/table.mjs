const COLUMNS = ['SERVICE', 'ZONE', 'VIP', 'HOSTNAME', 'STATUS'];

/** Formats a zone's view as text: a line for each hostname of each service. */
export function serviceTable(services) {
  const sorted = [...services].sort((a, b) => a.name.localeCompare(b.name) || a.zone.localeCompare(b.zone));
  const rows = [COLUMNS, ...sorted.flatMap(rowsOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column])).join('  ')}`.trimEnd())
    .join('\n');
}

function rowsOf({ name, zone, ip = 'none yet', addresses }) {
  // An address has no hostname where its generator's template reads a label that the service lacks.
  const hostnames = addresses
    .map(({ hostname = 'none', status = '', reason }) => [hostname, reason ? `${status}: ${reason}` : status])
    .sort(([a], [b]) => a.localeCompare(b));
  const [first = ['none yet', ''], ...rest] = hostnames;
  return [[name, zone, ip, ...first], ...rest.map((cells) => ['', '', '', ...cells])];
}
