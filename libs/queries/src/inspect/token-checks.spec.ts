import { globalIdentity, type JsonObject, type Resource } from '@causeway/resources';
import { tokenChecks, type TokenCheckInput } from './token-checks';

const DAY = 86_400_000;
const NOW = Date.parse('2026-03-01T12:00:00Z');
const token = {
  id: 'first',
  facts: { zone: 'east' },
  issuedAt: NOW - DAY,
  expiresAt: NOW + 29 * DAY,
  issuedBy: 'anna',
};

function findings(given: Partial<TokenCheckInput['tokens']>, insight: JsonObject = {}): readonly string[] {
  const zone = { id: globalIdentity('Zone', 'east') } as unknown as Resource;
  const input = { tokens: { user: [], zone: [], ...given }, zones: [{ zone, insight }], keyFaults: [], now: NOW };
  const [tokens] = tokenChecks(input);
  return [...(tokens?.findings() ?? [])].flatMap((finding) => (finding ? [`${finding.what} | ${finding.advice}`] : []));
}

describe('doctor, of tokens of zones', () => {
  it('has nothing to say of one that is renewed in time', () => {
    expect(findings({ zone: [{ ...token, revoked: false }] }, { token: { id: 'first', expiresAt: NOW } })).toEqual([]);
  });

  it('names the line that two holders use, until it is revoked', () => {
    const contested = { ...token, id: 'second', line: 'first', generation: 1, contestedAt: NOW };
    expect(findings({ zone: [{ ...contested, revoked: false }] })).toEqual([
      'the zone token of zone east (second) was renewed by two holders, or shown after its end, at 2026-03-01T12:00:00.000Z: it may be stolen | unless the store of the zone was set back: causeway tokens revoke first, then causeway tokens zone east',
    ]);
    expect(findings({ zone: [{ ...contested, revoked: true }] })).toEqual([]);
  });

  it('says at a zone why its token is not renewed', () => {
    const shown = { id: 'first', expiresAt: NOW + DAY, renewable: false, notRenewed: 'it was issued with --no-renew' };
    expect(findings({}, { token: shown })).toEqual([
      'the zone token of zone east (first) ends at 2026-03-02T12:00:00.000Z and is not renewed: it was issued with --no-renew | on the global: causeway tokens zone east, into the file that CAUSEWAY_ZONE_TOKEN_FILE of the zone names',
    ]);
  });
});
