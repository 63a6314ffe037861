import { readFileSync, writeFileSync } from 'node:fs';
import type { ProcessMesh } from '../../support/process-mesh';
import { until } from '../../support/until';
import { adminFetch } from '../../support/admin-credential';
import { sharedMesh, tokenFiles } from './shared-mesh';

interface Overview {
  readonly zoneInsight?: { readonly token?: { readonly id: string } };
}

interface Issued {
  readonly token: string;
  readonly id: string;
}

describe('zones join by their tokens', () => {
  let mesh: ProcessMesh;
  let [tokenFile, westFile] = ['', ''];

  const issue = async (zone = 'east', validFor = '1h'): Promise<Issued> => {
    const answer = await adminFetch(`${mesh.global.restUrl}/tokens/zone`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ zone, validFor }),
    });
    return (await answer.json()) as Issued;
  };
  const meshArrives = (name: string): Promise<unknown> =>
    until(`east has mesh ${name}`, () => mesh.zone('east').get(`/meshes/${name}`));
  const putMesh = (name: string): Promise<number> => mesh.global.put(`/meshes/${name}`, { type: 'Mesh', name });

  beforeAll(() => {
    mesh = sharedMesh();
    ({ east: tokenFile, west: westFile } = tokenFiles());
  });

  /** The number of the zone's session; 0 while there is none. */
  const session = async (zone: string): Promise<number> => {
    const overview = JSON.stringify(await mesh.zone(zone).get(`/zones/${zone}/_overview`));
    return Number(/"session":(\d+)/.exec(overview)?.[1] ?? 0);
  };
  /** Resolves when a line of its log has all of these parts. */
  const said = (zone: string, ...parts: readonly string[]): Promise<unknown> =>
    until(`${zone} says ${parts.join(' … ')}`, () =>
      mesh.zone(zone).lastLines.some((line) => parts.every((part) => line.includes(part))),
    );
  /** Resolves with the session after the one of this number. */
  const sessionAfter = (zone: string, former: number): Promise<number> =>
    until(`${zone} has another session`, async () => {
      const number = await session(zone);
      return number > former && number;
    });

  it.each<['east' | 'west', string, (token: string) => void]>([
    ['east', 'in its file', (token) => writeFileSync(tokenFile, token)],
    ['west', 'in the file of settings', (token) => writeFileSync(westFile, `zoneToken: ${token}\n`)],
  ])('%s shows a new token %s in a new session before the former token ends', async (zone, _, write) => {
    const first = await sessionAfter(zone, 0);
    write('');
    mesh.zone(zone).signal('SIGHUP');
    await said(zone, ...(zone === 'east' ? ['stays as it was', 'must not be empty'] : ['was taken away']));
    const ready = await (await fetch(`${mesh.zone(zone).diagnosticsUrl}/ready`)).text();
    expect(ready.includes('CAUSEWAY_ZONE_TOKEN_FILE: must not be empty')).toBe(zone === 'east');
    write('no.to.ken');
    // Without SIGHUP: the files are looked at again by themselves.
    await said(
      zone,
      'must be a zone token',
      zone === 'east' ? 'stays as it was' : 'changed settings were refused, the former ones stay in use',
    );
    expect(await session(zone)).toBe(first);

    const former = await issue(zone);
    write(former.token);
    mesh.zone(zone).signal('SIGHUP');
    const second = await sessionAfter(zone, first);
    // A token that the global refuses is a mistake: the zone goes on by the former one.
    const revoked = await issue(zone);
    await mesh.global.text('/tokens/zone/revocations', { id: revoked.id });
    write(revoked.token);
    mesh.zone(zone).signal('SIGHUP');
    await said(zone, 'the global refuses the new zone token: the former one is shown');
    const third = await sessionAfter(zone, second);

    write((await issue(zone)).token);
    mesh.zone(zone).signal('SIGHUP');
    const last = await sessionAfter(zone, third);
    // The end of the former token is felt by no session.
    await mesh.global.text('/tokens/zone/revocations', { id: former.id });
    expect(await putMesh(`after-${zone}`)).toBe(201);
    await until('the zone has it', () => mesh.zone(zone).get(`/meshes/after-${zone}`));
    expect(await session(zone)).toBe(last);
  });

  it('a token that is revoked lets no change through, and a new one in its file does, without a restart', async () => {
    const { token, id } = await issue();
    writeFileSync(tokenFile, token);
    // The key of all earlier tokens: the token in the file is signed with the next one.
    await mesh.global.text('/tokens/zone/keys', {});
    const next = await issue();
    await mesh.global.delete('/globalsecrets/zone-token-signing-key-1');
    await until('east is refused', () =>
      mesh.zone('east').lastLines.some((line) => /no signing key with kid/.test(line)),
    );
    writeFileSync(tokenFile, next.token);
    expect(await putMesh('after-rotation')).toBe(201);
    await meshArrives('after-rotation');

    await mesh.global.text('/tokens/zone/revocations', { id: next.id });
    await until('east is refused', () =>
      mesh.zone('east').lastLines.some((line) => line.includes(`${next.id} is revoked`)),
    );
    expect(await putMesh('after-revocation')).toBe(201);
    writeFileSync(tokenFile, (await issue()).token);
    await meshArrives('after-revocation');
    expect(id).not.toBe(next.id);
  });

  it('a token renews itself before it ends, its line is revoked as one, and a later one in the file wins', async () => {
    const shownId = async (): Promise<string | undefined> => {
      const { zoneInsight } = (await mesh.zone('east').get('/zones/east/_overview')) as Overview;
      return zoneInsight?.token?.id;
    };
    const first = await issue('east', '20s');
    writeFileSync(tokenFile, first.token);
    await until('the token of the file is shown', async () => (await shownId()) === first.id);
    await said('east', 'the zone token was replaced', `"formerId":"${first.id}"`);
    const second = await until('the renewed token is shown', async () => {
      const id = await shownId();
      return id !== first.id && id;
    });
    await until('the global shows it', async () =>
      JSON.stringify(await mesh.global.get('/zones/east/_overview')).includes(`"id":"${second}"`),
    );
    // The first one has ended by then, and the second one in its turn.
    await until('it is renewed again', async () => {
      const id = await shownId();
      return id !== second && id !== first.id;
    });
    expect(await putMesh('after-renewal')).toBe(201);
    await meshArrives('after-renewal');
    expect(readFileSync(tokenFile, 'utf8')).toBe(first.token);

    await mesh.global.text('/tokens/zone/revocations', { id: second });
    await until('east is refused', () =>
      mesh.zone('east').lastLines.some((line) => /UNAUTHENTICATED: .*is revoked/.test(line)),
    );
    const next = await issue();
    writeFileSync(tokenFile, next.token);
    await until('the later token of the file is shown', async () => (await shownId()) === next.id);
    expect(await putMesh('after-line')).toBe(201);
    await meshArrives('after-line');
  });

  it('keys are shown in no list and no log', async () => {
    const list = JSON.stringify(await mesh.global.get('/globalsecrets'));
    expect(list).toContain('zone-token-signing-key-2');
    expect(list).not.toMatch(/LS0tLS1CRUdJTi|"data"/); // a PEM in base64
    const east = JSON.stringify(await mesh.zone('east').get('/globalsecrets'));
    expect(east).not.toContain('kds-tls-authority');
    const logs = [...mesh.global.lastLines, ...mesh.zone('east').lastLines].join('\n');
    expect(logs).not.toMatch(/PRIVATE KEY|eyJ[\w-]+\.eyJ/);
  });
});
